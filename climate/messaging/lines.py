# SPDX-License-Identifier: Apache-2.0

"""Formats notifications as lines for terminals."""

from __future__ import annotations

import datetime
from collections import defaultdict
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
        text += f': {_TEXTS[event_type].format_map(_words(payload, zone))}{_lateness(payload)}'
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


def _lateness(payload: Mapping[str, Any]) -> str:
    late = payload.get('late_by_seconds') or 0
    return f', {duration(late)} late' if late >= _LATE else ''


def _names(value: Any) -> str:
    return ', '.join(str(one) for one in value) if isinstance(value, list) else '?'


def _words(payload: Mapping[str, Any], zone: datetime.tzinfo | None) -> Mapping[str, Any]:
    """Return what a payload says, by its keys and by the names that texts use."""
    host = payload.get('host')
    return defaultdict(
        lambda: None,
        payload,
        start=_time(payload.get('start_date'), zone),
        end=_time(payload.get('end_date'), zone),
        yields=_time(payload.get('yields_at'), zone),
        to_start=duration(payload.get('seconds_to_start') or 0),
        to_end=duration(payload.get('seconds_to_end') or 0),
        object=payload.get('object_name') or '?',
        on_host=f' on host {host}' if host else '',
        effect='leases cannot use it' if payload.get('unusable') else 'changed',
        **{key: _names(payload.get(key)) for key in ('from', 'to', 'ready', 'waiting')},
    )


_DELETED: Final = (
    '{object_type} {object_id} ({object}) of project {project_id}{on_host} deleted: {reason}'
)
_EVICTED: Final = (
    '{object_type} {object_id} ({object}) of project {project_id}{on_host} will be deleted at '
    '{yields}: {reason}'
)

_TEXTS: Final[Mapping[str, str]] = {
    schemas.CREATE: 'created, from {start} to {end}',
    schemas.UPDATE: 'updated, from {start} to {end}',
    schemas.DELETE: 'deleted',
    schemas.BEFORE_START: 'starts in {to_start}',
    schemas.START: 'started',
    schemas.NOTIFICATION: 'requested notification',
    schemas.BEFORE_END: 'ends in {to_end}',
    schemas.END: 'ended',
    schemas.ERROR: '{event_type} failed: {reason}',
    schemas.DEGRADED: 'degraded: {reason}',
    schemas.MOVED: '{reason}',
    schemas.YIELDING: 'yields in {to_end}',
    schemas.YIELDED: '{reason}',
    schemas.REHOMED: '{from} replaced by {to}: {reason}',
    schemas.READY: '{by} says that {ready} is ready',
    schemas.NOT_READY: 'started, but {by} says that {waiting} is not ready yet',
    schemas.SERVER_YIELDING: _EVICTED,
    schemas.SERVER_DELETED: _DELETED,
    schemas.OBJECT_DELETED: _DELETED,
    schemas.TRUST_LOST: 'the trust is of no use: {reason}',
    schemas.WEBHOOK_STOPPED: 'stopped: {reason}',
    schemas.FEED_STOPPED: 'stopped: {reason}',
    schemas.RESOURCE_DEGRADED: '{effect}: {reason}',
    schemas.RESOURCE_REDUCED: 'reduced: {reason}',
    schemas.RESOURCE_RECOVERED: 'as it is registered again, no longer: {reason}',
}
