# SPDX-License-Identifier: Apache-2.0

"""Formats notifications as lines for terminals."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.messaging import schemas

Envelope = Mapping[str, Any]

# Shorter delays, in seconds, are not shown, because readers would not notice them.
_LATE: Final = 1.0


def line(envelope: Envelope, zone: datetime.tzinfo | None = datetime.UTC) -> str:
    """Return one line that describes a notification.

    :param zone: the time zone of the line; None for that of the machine
    """
    payload = envelope.get('payload')
    payload = payload if isinstance(payload, Mapping) else {}
    event_type = str(envelope.get('event_type', '?'))
    text = f'{_time(envelope.get("timestamp"), zone)}  {event_type}'
    if 'object_id' in payload:
        text += f'  lease {payload.get("lease_id") or "?"}'
    elif 'stopped_at' in payload:
        text += (
            f'  {payload.get("name") or "?"} ({payload.get("id")})'
            f' of project {payload.get("project_id")}'
        )
    elif 'resource_id' in payload:
        text += f'  {payload.get("resource_type")} {payload.get("name")}'
    elif 'lease_id' in payload:
        text += (
            f'  {payload.get("name") or "?"} ({payload["lease_id"]})'
            f' of project {payload.get("project_id")}'
        )
    else:
        text += f'  from {envelope.get("publisher_id")}'
    if event_type in _TEXTS:
        text += f': {_TEXTS[event_type](payload, zone)}{_lateness(payload)}'
    # Users choose the names, which must not contain control characters for the terminal.
    return ''.join(sign if sign.isprintable() else '?' for sign in text)


def duration(seconds: float) -> str:
    """Return *seconds* as a readable text: ``30 s``, ``5 min``, ``1 h 30 min``."""
    rest = round(seconds)
    parts = []
    for unit, length in (('d', 86400), ('h', 3600), ('min', 60), ('s', 1)):
        number, rest = divmod(rest, length)
        if number:
            parts.append(f'{number} {unit}')
    # The two largest units are exact enough.
    return ' '.join(parts[:2]) or '0 s'


def _time(value: Any, zone: datetime.tzinfo | None) -> str:
    try:
        instant = datetime.datetime.fromisoformat(str(value))
    except ValueError:
        return '?'
    if instant.tzinfo is None:
        instant = instant.replace(tzinfo=datetime.UTC)
    text = instant.astimezone(zone).isoformat(' ', 'seconds')
    return text.replace('+00:00', 'Z')


def _period(payload: Mapping[str, Any], zone: datetime.tzinfo | None) -> str:
    return (
        f'from {_time(payload.get("start_date"), zone)} to {_time(payload.get("end_date"), zone)}'
    )


def _lateness(payload: Mapping[str, Any]) -> str:
    late = payload.get('late_by_seconds') or 0
    return f', {duration(late)} late' if late >= _LATE else ''


def _names(value: Any) -> str:
    return ', '.join(str(one) for one in value) if isinstance(value, list) else '?'


def _ready(payload: Mapping[str, Any], _zone: datetime.tzinfo | None) -> str:
    return f'{payload.get("by")} says that {_names(payload.get("ready"))} is ready'


def _not_ready(payload: Mapping[str, Any], _zone: datetime.tzinfo | None) -> str:
    waiting = _names(payload.get('waiting'))
    return f'started, but {payload.get("by")} says that {waiting} is not ready yet'


def _deleted(payload: Mapping[str, Any], _zone: datetime.tzinfo | None) -> str:
    host = f' on host {payload["host"]}' if payload.get('host') else ''
    return (
        f'{payload.get("object_type")} {payload.get("object_id")} '
        f'({payload.get("object_name") or "?"}) of project {payload.get("project_id")}{host} '
        f'deleted: {payload.get("reason")}'
    )


def _changed(payload: Mapping[str, Any], _zone: datetime.tzinfo | None) -> str:
    effect = 'leases cannot use it' if payload.get('unusable') else 'changed'
    return f'{effect}: {payload.get("reason")}'


def _stopped(payload: Mapping[str, Any], _zone: datetime.tzinfo | None) -> str:
    return f'stopped: {payload.get("reason")}'


_Text = Callable[[Mapping[str, Any], datetime.tzinfo | None], str]

_TEXTS: Final[Mapping[str, _Text]] = {
    schemas.CREATE: lambda payload, zone: f'created, {_period(payload, zone)}',
    schemas.UPDATE: lambda payload, zone: f'updated, {_period(payload, zone)}',
    schemas.DELETE: lambda _payload, _zone: 'deleted',
    schemas.BEFORE_START: lambda payload, _zone: (
        f'starts in {duration(payload.get("seconds_to_start") or 0)}'
    ),
    schemas.START: lambda _payload, _zone: 'started',
    schemas.NOTIFICATION: lambda _payload, _zone: 'requested notification',
    schemas.BEFORE_END: lambda payload, _zone: (
        f'ends in {duration(payload.get("seconds_to_end") or 0)}'
    ),
    schemas.END: lambda _payload, _zone: 'ended',
    schemas.ERROR: lambda payload, _zone: (
        f'{payload.get("event_type")} failed: {payload.get("reason")}'
    ),
    schemas.DEGRADED: lambda payload, _zone: f'degraded: {payload.get("reason")}',
    schemas.REHOMED: lambda payload, _zone: (
        f'{_names(payload.get("from"))} replaced by {_names(payload.get("to"))}: '
        f'{payload.get("reason")}'
    ),
    schemas.READY: _ready,
    schemas.NOT_READY: _not_ready,
    schemas.SERVER_DELETED: _deleted,
    schemas.OBJECT_DELETED: _deleted,
    schemas.TRUST_LOST: lambda payload, _zone: f'the trust is of no use: {payload.get("reason")}',
    schemas.WEBHOOK_STOPPED: _stopped,
    schemas.FEED_STOPPED: _stopped,
    schemas.RESOURCE_DEGRADED: _changed,
    schemas.RESOURCE_REDUCED: lambda payload, _zone: f'reduced: {payload.get("reason")}',
    schemas.RESOURCE_RECOVERED: lambda payload, _zone: (
        f'as it is registered again, no longer: {payload.get("reason")}'
    ),
}
