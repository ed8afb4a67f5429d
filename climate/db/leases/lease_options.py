# SPDX-License-Identifier: Apache-2.0

"""The column ``options`` of leases: the fields that most of them do not have, as JSON."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.domain import copies
from climate.domain.leases import Lease
from climate.domain.leases import OPTIONS
from climate.domain.leases import Readiness
from climate.domain.leases import YieldMode
from climate.domain.origins import RequestOrigin


def dumped(lease: Lease) -> dict[str, Any]:
    """Return the column for a lease, without values that are None."""
    values = copies.picked(lease, *OPTIONS)
    dumped = {name: _dump(name, value) for name, value in values.items() if value is not None}
    return {name: value for name, value in dumped.items() if value is not None}


def loaded(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a lease from the column; none for an empty one."""
    if not stored:
        return {}
    return {name: _load(name, stored.get(name)) for name in OPTIONS}


def readiness(stored: Mapping[str, Any]) -> Readiness | None:
    """Return the last report on the resources in the column."""
    report: Readiness | None = _load('readiness', stored.get('readiness'))
    return report


def dump_origin(origin: RequestOrigin | None) -> dict[str, str] | None:
    """Return an origin as JSON stores it; None for one without ids."""
    if origin is None:
        return None
    ids = {
        'request_id': origin.request_id,
        'global_request_id': origin.global_request_id,
        'traceparent': origin.traceparent,
    }
    return {name: value for name, value in ids.items() if value is not None} or None


def load_origin(stored: Mapping[str, str] | None) -> RequestOrigin | None:
    """Return an origin that this release or a later one has stored."""
    if not stored:
        return None
    return RequestOrigin(
        request_id=stored.get('request_id'),
        global_request_id=stored.get('global_request_id'),
        traceparent=stored.get('traceparent'),
    )


def _dump(name: str, value: Any) -> Any:
    return _KINDS[name][0](value) if name in _KINDS else value


def _load(name: str, value: Any) -> Any:
    return value if value is None or name not in _KINDS else _KINDS[name][1](value)


def _dump_readiness(value: Readiness) -> dict[str, Any]:
    return {
        'ready': list(value.ready),
        'waiting': list(value.waiting),
        'by': value.by,
        'detail': value.detail,
        'at': value.at.isoformat(),
    }


def _load_readiness(stored: Mapping[str, Any]) -> Readiness:
    return Readiness(
        ready=tuple(stored['ready']),
        waiting=tuple(stored['waiting']),
        by=stored['by'],
        detail=stored['detail'],
        at=datetime.datetime.fromisoformat(stored['at']),
    )


_INSTANT: Final = (datetime.datetime.isoformat, datetime.datetime.fromisoformat)

# How those are written and read that are not stored as they are.
_KINDS: Final[Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]]] = {
    'notify_before_start': (list, tuple),
    'notices': (list, tuple),
    'earliest': _INSTANT,
    'latest': _INSTANT,
    'wait_until': _INSTANT,
    'yields': (str, YieldMode),
    'readiness': (_dump_readiness, _load_readiness),
    'origin': (dump_origin, load_origin),
}
