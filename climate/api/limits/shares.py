# SPDX-License-Identifier: Apache-2.0
"""How many requests of one project are carried out at once.

A process has a fixed number of threads. One project may use a share of them, and its further
requests wait for a moment: as long as enough threads are free for others. Then they are
refused. Requests without a token, and those of operators and services, have shares of their
own. The share is taken after authentication, and before the request costs anything.

All threads of a process take turns on one processor. So a project that has used more than its
share of the processor time, while others send requests, too, has one request in progress
only, and pauses between them. A client that sends one request after another is never refused.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import enum
import threading
import time
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any
from typing import Final

from oslo_context.context import RequestContext

from climate import exceptions
from climate.api.http.environ_keys import CONTEXT
from climate.api.http.wsgi import Environ
from climate.api.http.wsgi import StartResponse
from climate.api.http.wsgi import WSGIApp
from climate.api.limits.rates import client_of
from climate.api.limits.rates import Rates
from climate.conf.settings import option
from climate.conf.settings import Settings
from climate.metrics import catalogue
from climate.metrics import recording

WORK: Final = 'climate.work'
"""Key of the WSGI environment: the :class:`RequestWork` of a request."""

_LEAST: Final = 2
RETRY_AFTER: Final = 1
# How much processor time a project may use at once before it pauses, in seconds.
_BURST: Final = 0.25
# For how long others count as active after a request, in seconds.
_ACTIVE: Final = 2.0
# How often those that wait look whether their pause is over, in seconds.
_LOOKS: Final = 0.05
_MOST_SPENDERS: Final = 1000


class CallerGroup(enum.StrEnum):
    """Who sends a request; each group has a share of its own."""

    PROJECT = 'project'
    OPERATORS = 'operators'
    ANONYMOUS = 'anonymous'
    ADDRESS = 'address'


class State(enum.StrEnum):
    """What a request does."""

    RUNNING = 'running'
    WAITING = 'waiting'


Caller = tuple[CallerGroup, str]
"""Whose requests count together: a group, and a project of it."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ShareSettings(Settings):
    """How the threads of a process are shared.

    :ivar threads: of the process
    :ivar project_share: of the threads for one project; 1 for all of them
    :ivar wait: how long a request waits for its turn, in seconds
    """

    threads: int = option('api', 'threads')
    project_share: float = option('api', 'project_share')
    wait: float = option('api', 'share_wait')

    def most(self, group: CallerGroup) -> int | None:
        """Return how many requests of a caller are carried out at once; None for any number."""
        if self.project_share >= 1:
            return None
        share = (
            max(0.5, self.project_share) if group is CallerGroup.OPERATORS else self.project_share
        )
        return max(_LEAST, int(self.threads * share))

    @property
    def most_held(self) -> int:
        """How many threads are in use at most while a request waits."""
        return self.threads - max(1, self.threads // 4)


class Spending:
    """The processor time that callers have used lately.

    :param rate: the share of the time of a processor that one may use
    """

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._debts: dict[Caller, tuple[float, float]] = {}
        self._seen: list[tuple[Caller, float]] = []

    def see(self, caller: Caller, now: float) -> None:
        """Note that a request of a caller begins."""
        others = [each for each in self._seen if each[0] != caller]
        self._seen = [(caller, now), *others[:1]]

    def add(self, caller: Caller, seconds: float, now: float) -> None:
        """Note what a request of a caller has used."""
        if len(self._debts) >= _MOST_SPENDERS:
            self._debts = {
                each: debt for each, debt in self._debts.items() if self._debt(each, now)
            }
        self._debts[caller] = (self._debt(caller, now) + max(0.0, seconds), now)

    def pauses(self, caller: Caller, now: float) -> bool:
        """Whether a caller has used more than its share while others were active."""
        active = any(each != caller and now - at < _ACTIVE for each, at in self._seen)
        return active and self._debt(caller, now) > _BURST

    def _debt(self, caller: Caller, now: float) -> float:
        debt, at = self._debts.get(caller, (0.0, now))
        return max(0.0, debt - self._rate * (now - at))


class _Waiter:
    """A request that waits for its turn."""

    __slots__ = ('begins', 'decided')

    def __init__(self) -> None:
        self.decided = threading.Event()
        self.begins = False


class RequestWork:
    """A request in progress; used by one thread at a time."""

    __slots__ = ('_begun', '_caller', '_ended', '_idle', '_shares')

    def __init__(self, shares: ThreadShares, caller: Caller) -> None:
        self._begun = shares.worked()
        self._shares = shares
        self._caller = caller
        self._idle = False
        self._ended = False

    def __enter__(self) -> None: ...

    def __exit__(self, *_error: object) -> None:
        self.end()

    def idle(self) -> None:
        """Give the share back: from now on the request only waits, in its thread."""
        if not self._idle:
            self._idle = True
            self._shares.stop(self._caller, self._spent(), thread=False)

    def end(self) -> None:
        """Give the share and the thread back; later calls do nothing."""
        if not self._ended:
            self._ended = True
            self._shares.stop(self._caller, self._spent(), running=not self._idle)
            self._idle = True

    def _spent(self) -> float:
        """Return the processor time since the last call, in seconds."""
        now, begun = self._shares.worked(), self._begun
        self._begun = now
        return now - begun


class ThreadShares:
    """The requests in progress in a process.

    :param ticks: returns the seconds of the monotonic clock
    :ivar worked: returns the processor time of the thread, in seconds
    """

    def __init__(
        self,
        settings: ShareSettings,
        ticks: Callable[[], float] = time.monotonic,
        worked: Callable[[], float] = time.thread_time,
    ) -> None:
        self.worked = worked
        self._ticks = ticks
        self._settings = settings
        self._spending = Spending(settings.project_share)
        self._lock = threading.Lock()
        self._running: dict[Caller, int] = collections.Counter()
        self._waiting: dict[Caller, collections.deque[_Waiter]] = {}
        self._held = 0
        self._shown: dict[tuple[CallerGroup, State], int] = collections.Counter()

    def begin(self, group: CallerGroup, project_id: str = '') -> RequestWork:
        """Return the work of a request as soon as it has its turn.

        :raises climate.exceptions.TooManyAtOnce: if others of the same caller take too long
        """
        caller = (group, project_id)
        most = self._settings.most(group)
        with self._lock:
            waits = bool(self._waiting.get(caller))
            if most is None or (not waits and self._may_begin(caller, most)):
                self._start(caller)
                self._refuse_waiters()
                return RequestWork(self, caller)
            waiter = self._queue(caller)
            if waiter is None and not waits and not self._running[caller]:
                # It would only pause, and no thread is left for that.
                self._start(caller)
                return RequestWork(self, caller)
        if waiter is not None and self._wait(caller, waiter, most):
            return RequestWork(self, caller)
        kind = group if group in {CallerGroup.PROJECT, CallerGroup.ADDRESS} else 'group of callers'
        raise exceptions.TooManyAtOnce(kind=kind, most=most, retry_after=RETRY_AFTER)

    def _may_begin(self, caller: Caller, most: int) -> bool:
        if self._spending.pauses(caller, self._ticks()):
            return False
        return self._running[caller] < most

    def _wait(self, caller: Caller, waiter: _Waiter, most: int) -> bool:
        """Wait for a turn; return whether it has come."""
        until = self._ticks() + self._settings.wait
        while not waiter.decided.wait(min(_LOOKS, max(0.0, until - self._ticks()))):
            with self._lock:
                over = self._ticks() >= until
                waiting = self._waiting.get(caller)
                first = waiting is not None and waiting[0] is waiter
                begins = first and (
                    self._may_begin(caller, most) or (over and not self._running[caller])
                )
                if not waiter.decided.is_set() and begins:
                    self._promote(caller)
                elif over:
                    self._leave(caller, waiter)
            if over:
                break
        return waiter.begins

    def _promote(self, caller: Caller) -> None:
        """Let the first request that waits begin."""
        self._held -= 1
        self._start(caller)
        self._decide(caller, self._waiting[caller].popleft(), begins=True)

    def stop(
        self, caller: Caller, spent: float = 0.0, *, running: bool = True, thread: bool = True
    ) -> None:
        """Let the next request of a caller begin.

        :param spent: the processor time that the request has used, in seconds
        :param running: whether the request has been running until now
        :param thread: whether its thread is free now
        """
        most = self._settings.most(caller[0])
        with self._lock:
            self._spending.add(caller, spent, self._ticks())
            if thread:
                self._held -= 1
            if running:
                self._running[caller] -= 1
                self._count(caller, State.RUNNING, -1)
                if caller in self._waiting and self._may_begin(caller, most or 1):
                    self._promote(caller)
            if not self._running[caller]:
                del self._running[caller]

    def _start(self, caller: Caller) -> None:
        self._spending.see(caller, self._ticks())
        self._held += 1
        self._running[caller] += 1
        self._count(caller, State.RUNNING, 1)

    def _queue(self, caller: Caller) -> _Waiter | None:
        """Return a new waiter; None if too few threads would be free for others."""
        if self._held >= self._settings.most_held or self._settings.wait <= 0:
            return None
        self._held += 1
        waiter = _Waiter()
        self._waiting.setdefault(caller, collections.deque()).append(waiter)
        self._count(caller, State.WAITING, 1)
        return waiter

    def _leave(self, caller: Caller, waiter: _Waiter) -> None:
        """Refuse a waiter whose time is over, unless that was decided already."""
        waiting = self._waiting.get(caller)
        if waiting is not None and waiter in waiting:
            waiting.remove(waiter)
            self._held -= 1
            self._decide(caller, waiter, begins=False)

    def _refuse_waiters(self) -> None:
        """Refuse requests that wait in threads that others need now."""
        while self._waiting and self._held > self._settings.most_held:
            caller = max(self._waiting, key=lambda each: len(self._waiting[each]))
            self._held -= 1
            self._decide(caller, self._waiting[caller].pop(), begins=False)

    def _decide(self, caller: Caller, waiter: _Waiter, *, begins: bool) -> None:
        self._count(caller, State.WAITING, -1)
        if not self._waiting[caller]:
            del self._waiting[caller]
        waiter.begins = begins
        waiter.decided.set()

    def _count(self, caller: Caller, state: State, change: int) -> None:
        key = (caller[0], state)
        self._shown[key] += change
        recording.assign(catalogue.IN_PROGRESS, self._shown[key], *key)


class SharedThreads:
    """Passes requests on as soon as their caller has a share for them."""

    def __init__(self, app: WSGIApp, shares: ThreadShares) -> None:
        self._app = app
        self._shares = shares

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on; its work ends with the last part of the response.

        :raises climate.exceptions.TooManyAtOnce: if others of the same caller take too long
        """
        work = environ[WORK] = self._begin(environ)
        try:
            answer = self._app(environ, start_response)
        except BaseException:
            work.end()
            raise
        if isinstance(answer, list) or environ['REQUEST_METHOD'] == 'HEAD':
            work.end()
            return answer
        return _Streamed(answer, work)

    def _begin(self, environ: Environ) -> RequestWork:
        return self._shares.begin(CallerGroup.ANONYMOUS)


class ProjectThreads(SharedThreads):
    """Passes requests with a token on as soon as their project has a share for them.

    :param is_operator: whether the caller with a context is an operator or a service
    """

    def __init__(
        self, app: WSGIApp, shares: ThreadShares, is_operator: Callable[[RequestContext], bool]
    ) -> None:
        super().__init__(app, shares)
        self._is_operator = is_operator

    def _begin(self, environ: Environ) -> RequestWork:
        context = environ[CONTEXT]
        if self._is_operator(context):
            return self._shares.begin(CallerGroup.OPERATORS)
        return self._shares.begin(CallerGroup.PROJECT, context.project_id)


class _Streamed:
    """The parts of a response, during which the request is in progress."""

    def __init__(self, parts: Iterable[bytes], work: RequestWork) -> None:
        self._parts = parts
        self._work = work

    def __iter__(self) -> Iterator[bytes]:
        yield from self._parts
        self._work.end()

    def close(self) -> None:
        """End the work; WSGI servers call this in any case."""
        try:
            close: Any = getattr(self._parts, 'close', None)
            if close is not None:
                close()
        finally:
            self._work.end()


def begin_for_address(
    shares: ThreadShares, rates: Rates | None, address: str
) -> contextlib.AbstractContextManager[None]:
    """Return a context within which a request of an address works, as soon as it has its turn.

    :param rates: knows which addresses many users share, which have no limit; None if none
    :raises climate.exceptions.TooManyAtOnce: if others of the same client take too long
    """
    if rates is not None and rates.exempts(address):
        return contextlib.nullcontext()
    return shares.begin(CallerGroup.ADDRESS, client_of(address))
