# SPDX-License-Identifier: Apache-2.0

"""The fields of flexible leases: those without a start, which begin as soon as there is room."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable
from typing import Any
from typing import Final
from typing import TypeVar

from climate import exceptions
from climate.api.http import dates
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_8
from climate.api.schemas.availability import LONGEST
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.domain.requests import UNSET
from climate.domain.requests import Unset
from climate.domain.requests import WindowChange

FIELDS: Final[dict[str, Any]] = {
    'earliest': {'type': ['string', 'null']},
    'latest': {'type': ['string', 'null']},
    'firm_before': {'type': ['integer', 'string']},
}
WAITING: Final[dict[str, Any]] = {
    'wait': {'type': 'boolean'},
    'wait_until': {'type': ['string', 'null']},
}
CHANGES: Final[dict[str, Any]] = {**FIELDS, 'wait_until': WAITING['wait_until']}

T = TypeVar('T')

_MINUTE: Final = datetime.timedelta(minutes=1)
_LONGEST_LEASE: Final = datetime.timedelta(days=36525)
# Their times are absolute, while a flexible lease moves.
_FIXED: Final = ('end_date', 'before_end_date', 'events')


@dataclasses.dataclass(frozen=True, kw_only=True)
class RequestedWindow:
    """When a flexible lease may be.

    :ivar earliest: the first start (aware UTC); None for a lease with a fixed start
    :ivar latest: the last end (aware UTC); None for any
    :ivar firm_before: how long before its start it stops moving; None for the default
    :ivar waits: whether it waits if there is no room
    :ivar wait_until: until when at most (aware UTC); None for as long as it can begin
    """

    earliest: datetime.datetime | None = None
    latest: datetime.datetime | None = None
    firm_before: datetime.timedelta | None = None
    waits: bool = False
    wait_until: datetime.datetime | None = None

    def check(self, end: datetime.datetime) -> None:
        """Check that there is a period in the window.

        :param end: of the first period
        :raises climate.exceptions.MalformedParameter: if there is none, or it is too long
        """
        if self.earliest is not None:
            _check_length(end - self.earliest)
        if self.latest is not None and end > self.latest:
            raise malformed('latest', 'a time at least duration after earliest is required')


def read(body: dict[str, Any], version: Microversion, now: datetime.datetime) -> RequestedWindow:
    """Return when a new lease may be.

    :param body: which was checked against the schema of the version
    :param now: the instant that ``now`` means (aware UTC)
    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    if version < V1_8:
        return RequestedWindow()
    given = {name: body[name] for name in (*FIELDS, *WAITING) if body.get(name) is not None}
    if body.get('start_date') is not None:
        if given:
            raise malformed(min(given), 'a lease with a start_date has none')
        return RequestedWindow()
    for name in _FIXED:
        if body.get(name):
            raise malformed(name, 'it requires start_date')
    if body.get('duration') is None:
        raise exceptions.MissingParameter(param='start_date or duration')
    return RequestedWindow(
        earliest=_earliest(given, version, now),
        latest=_latest(given, version, now),
        firm_before=_firm_before(given),
        waits=bool(given.get('wait')),
        wait_until=_wait_until(given, version, now),
    )


def _wait_until(
    given: dict[str, Any], version: Microversion, now: datetime.datetime
) -> datetime.datetime | None:
    if 'wait_until' not in given:
        return None
    if not given.get('wait'):
        raise malformed('wait_until', 'it requires wait')
    return _until(given, version, now)


def _until(
    given: dict[str, Any], version: Microversion, now: datetime.datetime
) -> datetime.datetime:
    until = dates.parse('wait_until', given['wait_until'], now, version)
    if until <= now:
        raise malformed('wait_until', 'it lies in the past')
    return until


def changed(
    body: dict[str, Any],
    version: Microversion,
    now: datetime.datetime,
    current: Callable[[], Lease],
) -> WindowChange:
    """Return the change of when a flexible lease may be.

    :param body: which was checked against the schema of the version
    :param now: the instant that ``now`` means (aware UTC)
    :param current: returns the lease as it is
    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    if version < V1_8:
        return WindowChange()
    given = {name: body[name] for name in CHANGES if body.get(name) is not None}
    fixed = any(body.get(name) is not None for name in ('start_date', 'end_date'))
    if fixed and given:
        raise malformed(min(given), 'a lease with a start_date or an end_date has none')
    duration = None
    if body.get('duration') is not None and not fixed and (given or _moves(current())):
        duration = dates.parse_duration('duration', body['duration'])
        _check_length(duration)
    return WindowChange(
        earliest=_stated(body, 'earliest', lambda: _earliest(given, version, now)),
        latest=_stated(body, 'latest', lambda: _latest(given, version, now)),
        firm_before=_stated(body, 'firm_before', lambda: _firm_before(given)),
        duration=duration,
        wait_until=_stated(body, 'wait_until', lambda: _until(given, version, now)),
    )


def _check_length(length: datetime.timedelta) -> None:
    if length > _LONGEST_LEASE:
        raise malformed('duration', f'at most {_LONGEST_LEASE.days} days are allowed')


def _moves(lease: Lease) -> bool:
    return lease.is_flexible and lease.status in (LeaseStatus.PENDING, LeaseStatus.WAITING)


def _stated(body: dict[str, Any], name: str, read: Callable[[], T | None]) -> T | Unset | None:
    if name not in body:
        return UNSET
    return None if body[name] is None else read()


def _earliest(
    given: dict[str, Any], version: Microversion, now: datetime.datetime
) -> datetime.datetime:
    earliest = dates.parse('earliest', given.get('earliest', 'now'), now, version)
    if earliest < now - _MINUTE:
        raise malformed('earliest', 'it lies in the past')
    if earliest - now > LONGEST:
        raise malformed('earliest', f'at most {LONGEST.days} days ahead are allowed')
    return max(earliest, now)


def _latest(
    given: dict[str, Any], version: Microversion, now: datetime.datetime
) -> datetime.datetime | None:
    return None if 'latest' not in given else dates.parse('latest', given['latest'], now, version)


def _firm_before(given: dict[str, Any]) -> datetime.timedelta | None:
    if given.get('firm_before') in (None, 0):
        return None
    length = dates.parse_duration('firm_before', given['firm_before'])
    if length > LONGEST:
        raise malformed('firm_before', f'at most {LONGEST.days} days are allowed')
    return length


def malformed(field: str, reason: str) -> exceptions.MalformedParameter:
    """Return the error for a field."""
    return exceptions.MalformedParameter(f'Malformed parameter {field}: {reason}')
