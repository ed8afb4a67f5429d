# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.
"""How many requests of one project are carried out at once.

A process has a fixed number of threads. One project may use a share of them, and its further
requests wait for a moment: as long as enough threads are free for others. Then they are
refused. Requests without a token, and those of operators and services, have shares of their
own. The share is taken after authentication, and before the request costs anything.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import threading
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any
from typing import Final

from oslo_context.context import RequestContext

from climate import exceptions
from climate.api.auth import CONTEXT
from climate.api.wsgi import Environ
from climate.api.wsgi import StartResponse
from climate.api.wsgi import WSGIApp
from climate.conf.settings import option
from climate.conf.settings import Settings
from climate.metrics import catalogue
from climate.metrics import recording

WORK: Final = 'climate.work'
"""Key of the WSGI environment: the :class:`Work` of a request."""

_LEAST: Final = 2
_RETRY_AFTER: Final = 1


class Group(enum.StrEnum):
    """Who sends a request; each group has a share of its own."""

    PROJECT = 'project'
    OPERATORS = 'operators'
    ANONYMOUS = 'anonymous'


class State(enum.StrEnum):
    """What a request does."""

    RUNNING = 'running'
    WAITING = 'waiting'


Caller = tuple[Group, str]
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

    def most(self, group: Group) -> int | None:
        """Return how many requests of a caller are carried out at once; None for any number."""
        if self.project_share >= 1:
            return None
        share = max(0.5, self.project_share) if group is Group.OPERATORS else self.project_share
        return max(_LEAST, int(self.threads * share))

    @property
    def most_held(self) -> int:
        """How many threads are in use at most while a request waits."""
        return self.threads - max(1, self.threads // 4)


class _Waiter:
    """A request that waits for its turn."""

    __slots__ = ('begins', 'decided')

    def __init__(self) -> None:
        self.decided = threading.Event()
        self.begins = False


class Work:
    """A request in progress; used by one thread at a time."""

    __slots__ = ('_caller', '_ended', '_idle', '_shares')

    def __init__(self, shares: Shares, caller: Caller) -> None:
        self._shares = shares
        self._caller = caller
        self._idle = False
        self._ended = False

    def idle(self) -> None:
        """Give the share back: from now on the request only waits, in its thread."""
        if not self._idle:
            self._idle = True
            self._shares.stop(self._caller, thread=False)

    def end(self) -> None:
        """Give the share and the thread back; later calls do nothing."""
        if not self._ended:
            self._ended = True
            self._shares.stop(self._caller, running=not self._idle)
            self._idle = True


class Shares:
    """The requests in progress in a process."""

    def __init__(self, settings: ShareSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._running: dict[Caller, int] = collections.Counter()
        self._waiting: dict[Caller, collections.deque[_Waiter]] = {}
        self._held = 0
        self._shown: dict[tuple[Group, State], int] = collections.Counter()

    def begin(self, group: Group, project_id: str = '') -> Work:
        """Return the work of a request as soon as it has its turn.

        :raises climate.exceptions.TooManyAtOnce: if others of the same caller take too long
        """
        caller = (group, project_id)
        most = self._settings.most(group)
        with self._lock:
            if most is None or self._running[caller] < most:
                self._start(caller)
                self._refuse_waiters()
                return Work(self, caller)
            waiter = self._queue(caller)
        if waiter is not None:
            waiter.decided.wait(self._settings.wait)
            with self._lock:
                if waiter.begins:
                    return Work(self, caller)
                self._leave(caller, waiter)
        kind = 'project' if group is Group.PROJECT else 'group of callers'
        raise exceptions.TooManyAtOnce(kind=kind, most=most, retry_after=_RETRY_AFTER)

    def stop(self, caller: Caller, *, running: bool = True, thread: bool = True) -> None:
        """Let the next request of a caller begin.

        :param running: whether the request has been running until now
        :param thread: whether its thread is free now
        """
        with self._lock:
            if thread:
                self._held -= 1
            if running:
                self._running[caller] -= 1
                self._count(caller, State.RUNNING, -1)
                waiting = self._waiting.get(caller)
                if waiting:
                    self._held -= 1
                    self._start(caller)
                    self._decide(caller, waiting.popleft(), begins=True)
            if not self._running[caller]:
                del self._running[caller]

    def _start(self, caller: Caller) -> None:
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
        """Forget a waiter whose time is over, unless it has been refused already."""
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

    def __init__(self, app: WSGIApp, shares: Shares) -> None:
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

    def _begin(self, environ: Environ) -> Work:
        return self._shares.begin(Group.ANONYMOUS)


class ProjectThreads(SharedThreads):
    """Passes requests with a token on as soon as their project has a share for them.

    :param is_operator: whether the caller with a context is an operator or a service
    """

    def __init__(
        self, app: WSGIApp, shares: Shares, is_operator: Callable[[RequestContext], bool]
    ) -> None:
        super().__init__(app, shares)
        self._is_operator = is_operator

    def _begin(self, environ: Environ) -> Work:
        context = environ[CONTEXT]
        if self._is_operator(context):
            return self._shares.begin(Group.OPERATORS)
        return self._shares.begin(Group.PROJECT, context.project_id)


class _Streamed:
    """The parts of a response, during which the request is in progress."""

    def __init__(self, parts: Iterable[bytes], work: Work) -> None:
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
