# SPDX-License-Identifier: Apache-2.0

"""Follows a lease: its status, what is done for it, and how long it takes yet."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any
from typing import Final
from typing import Protocol

from keystoneauth1 import exceptions as auth_exceptions
from openstack import exceptions

from climate.client import times
from climate.client.sdk import errors
from climate.client.sdk.histories import LeaseHistory
from climate.client.sdk.leases import Lease
from climate.client.sdk.proxy import ReservationProxy

INTERVAL: Final = 1.0
"""Seconds between two requests while something happens."""

_LONGEST_INTERVAL: Final = 10.0
_WAITS: Final = 5.0
_LONGEST_PAUSE: Final = 10.0
# The service answers like this while it starts or restarts, or asks for fewer requests.
_PASSING: Final = frozenset({429, 500, 502, 503, 504})
_OVER: Final = frozenset({'TERMINATED', 'ERROR'})
_WAITING: Final = 'WAITING'


class WatchScreen(Protocol):
    """Shows what a watcher finds."""

    def line(self, text: str) -> None:
        """Show a line that stays."""

    def progress(self, text: str, share: float, seconds: float) -> None:
        """Show how much of a period is over.

        :param share: from 0 to 1
        :param seconds: what is left
        """


class LeaseWatcher:
    """Follows one lease.

    :param now: returns the present instant, in aware UTC
    :param sleep: waits for some seconds
    """

    def __init__(
        self,
        proxy: ReservationProxy,
        lease_id: str,
        screen: WatchScreen,
        now: Callable[[], datetime.datetime],
        sleep: Callable[[float], None],
    ) -> None:
        self._proxy = proxy
        self._lease_id = lease_id
        self._screen = screen
        self._now = now
        self._sleep = sleep
        self._shown: dict[tuple[str, ...], str] = {}
        self._failures = 0

    def watch(self, status: str, until: datetime.datetime | None = None) -> Lease | None:
        """Follow the lease until it has a status, or cannot get it any more.

        An interruption of the service or the network is shown, and survived.

        :param until: when to give up; None for never
        :returns: the lease as it is then; None if it was deleted
        """
        while True:
            try:
                lease = self._proxy.get_lease(self._lease_id)
                history = self._proxy.lease_history(self._lease_id)
            except errors.NotFoundRefusal:
                self._screen.line('deleted')
                return None
            except (auth_exceptions.ConnectionError, exceptions.HttpException) as error:
                self._interrupted(error, until)
                continue
            self._resumed()
            self._show(lease, history)
            late = until is not None and self._now() >= until
            if lease.status == status or lease.status in _OVER or late:
                return lease
            self._wait(lease, until)

    def _interrupted(self, error: Exception, until: datetime.datetime | None) -> None:
        """Show an interruption once, and wait longer each time.

        :raises Exception: the error, if it does not pass or it is too late
        """
        passing = getattr(error, 'status_code', 503) in _PASSING
        if not passing or (until is not None and self._now() >= until):
            raise error
        if not self._failures:
            self._screen.line(f'interrupted: {str(error).splitlines()[0]}')
        self._sleep(self._at_most(until, min(_LONGEST_PAUSE, INTERVAL * 2**self._failures)))
        self._failures = min(self._failures + 1, 10)

    def _resumed(self) -> None:
        if self._failures:
            self._screen.line('the service answers again')
        self._failures = 0

    def _show(self, lease: Lease, history: LeaseHistory) -> None:
        for key, text in (*_steps(history), *_states(lease)):
            if self._shown.get(key) != text:
                self._shown[key] = text
                self._screen.line(text)

    def _at_most(self, until: datetime.datetime | None, seconds: float) -> float:
        """Return a pause that ends when the watcher gives up, if not before."""
        if until is None:
            return seconds
        return min(seconds, max(0.0, (until - self._now()).total_seconds()))

    def _wait(self, lease: Lease, until: datetime.datetime | None) -> None:
        """Wait for the next request, with a bar that moves every second.

        What a lease waits for has no time: it may have room at once.
        """
        if lease.status == _WAITING:
            self._sleep(self._at_most(until, _WAITS))
            return
        begin, end, about = _goal(lease)
        left = (end - self._now()).total_seconds()
        # A lease far ahead can still be changed, so that it is read now and then.
        pause = self._at_most(until, min(_LONGEST_INTERVAL, max(INTERVAL, left / 10)))
        while pause > 0:
            now = self._now()
            left = max(0.0, (end - now).total_seconds())
            whole = max((end - begin).total_seconds(), 1e-6)
            self._screen.progress(about, min(1.0, max(0.0, 1 - left / whole)), left)
            self._sleep(min(pause, INTERVAL))
            pause -= INTERVAL


def _goal(lease: Lease) -> tuple[datetime.datetime, datetime.datetime, str]:
    """Return the period of the bar: until the start, or of the lease."""
    start, end = times.read(lease.start_date), times.read(lease.end_date)
    if lease.status in ('PENDING', 'STARTING'):
        created = times.read(lease.created_at) if lease.created_at else start
        return min(created, start), start, 'start'
    return start, end, 'end'


def _states(lease: Lease) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what is known of the lease itself: each line has a key that says what it is on."""
    yield (
        ('status',),
        f'{lease.status}: {_period(lease)}{", degraded" if lease.is_degraded else ""}',
    )
    if lease.readiness:
        waiting = ', '.join(lease.readiness.get('waiting') or ()) or 'nothing'
        yield ('readiness',), f'waiting for {waiting} ({lease.readiness.get("detail") or "-"})'


def _period(lease: Lease) -> str:
    """Return when a lease is, and until when that may change."""
    if lease.status == _WAITING:
        left = lease.time_left
        return f'for room, {times.write_duration(left)} left' if lease.preemptible else 'for room'
    period = f'{times.write(lease.start_date)} to {times.write(lease.end_date)}'
    if lease.status == 'PENDING' and lease.firm_at:
        return f'{period}, firm from {times.write(lease.firm_at)} on'
    whole = (times.read(lease.end_date) - times.read(lease.start_date)).total_seconds()
    if lease.status == 'ACTIVE' and (lease.time_left or 0) > whole:
        return f'{period}, when it yields'
    return period


def _steps(history: LeaseHistory) -> Iterator[tuple[tuple[str, ...], str]]:
    for step in history.steps or ():
        key = (step['event_id'], str(step['reservation_id']), step['effect'])
        yield key, _step(step)
        for number, line in enumerate(step['lines']):
            yield (*key, str(number), line['at']), f'  {times.write(line["at"])} {line["text"]}'


def _step(step: dict[str, Any]) -> str:
    what = ' '.join(filter(None, (step['effect'], step['resource_type'], step['state'])))
    about = '; '.join(filter(None, (step['waiting_for'], step['error'])))
    again = f', attempt {step["attempts"]}' if step['attempts'] > 1 else ''
    return f'{times.write(step["last_at"])} {what}{again}{f": {about}" if about else ""}'
