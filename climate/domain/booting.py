# SPDX-License-Identifier: Apache-2.0

"""Reads the lease that a server requests when it boots; pure functions.

The request is in the metadata of the server (``climate:lease_end`` and similar
keys), or in the scheduler hint ``lease_params``, a JSON object.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.domain import periods
from climate.domain.events import EventKind
from climate.domain.requests import EventDraft

PREFIX: Final = 'climate:'
HINT: Final = 'lease_params'
LEASE_ID: Final = PREFIX + 'lease_id'
ERROR: Final = PREFIX + 'lease_error'
RESERVATION: Final = PREFIX + 'reservation'
LONGEST: Final = 255
"""The maximum length of a metadata value, in characters."""

# Keys of metadata, by the corresponding key of the hint.
_KEYS = {
    'name': PREFIX + 'lease_name',
    'start': PREFIX + 'lease_start',
    'end': PREFIX + 'lease_end',
    'duration': PREFIX + 'lease_duration',
    'on_end': PREFIX + 'on_end',
    'guarantee': PREFIX + 'guarantee',
}
_ASKING = ('start', 'end', 'duration')
_MOST_EVENTS = 100
"""The same limit as for a lease that is created over HTTP."""
_BOOLEANS = {'true': True, 'false': False}
_LONGEST_NAME = 80


class Unreadable(ValueError):
    """The request of a server is invalid; the message is for its owner."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ServerReport:
    """A report that a server was booted or deleted.

    :ivar gone: whether the server was deleted; otherwise it was booted
    """

    server_id: str
    gone: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RequestedLease:
    """The lease that a server requests.

    :ivar name: None for a generated name
    :ivar on_end: actions on the server at the end; None for the default
    :ivar guarantee: whether capacity must be available at the start; None to
        decide by the server: one that already runs needs no capacity
    :ivar imposed: whether the operator imposes the lease, so that the limits of
        the project do not apply
    """

    start: datetime.datetime
    end: datetime.datetime
    name: str | None = None
    on_end: tuple[str, ...] | None = None
    guarantee: bool | None = None
    events: tuple[EventDraft, ...] = ()
    before_end_date: datetime.datetime | None = None
    imposed: bool = False


def requested_lease(
    metadata: Mapping[str, str], hint: object, now: datetime.datetime
) -> RequestedLease | None:
    """Return the lease that a server requests; None if it requests none.

    The metadata takes precedence over the hint. A start in the past becomes the
    present instant, because a server takes a while to boot.

    :param hint: value of the scheduler hint :data:`HINT`; None without one
    :param now: the present instant (aware UTC)
    :raises Unreadable: if the request is invalid; the message names the field
        and the reason
    """
    said = {field: metadata[key] for field, key in _KEYS.items() if key in metadata}
    if any(field in said for field in _ASKING):
        return _read(said, _KEYS, now)
    if hint is None:
        return None
    fields = _object(hint)
    return _read(fields, {field: f'{HINT}.{field}' for field in (*_KEYS, 'events')}, now)


def _object(hint: object) -> dict[str, Any]:
    # Nova stores each hint as a list of strings.
    if isinstance(hint, list) and len(hint) == 1:
        hint = hint[0]
    if isinstance(hint, str):
        try:
            hint = json.loads(hint)
        except (ValueError, RecursionError):
            raise Unreadable(f'{HINT} is not valid JSON') from None
    if not isinstance(hint, dict):
        raise Unreadable(f'{HINT} is not a JSON object')
    return hint


def _read(
    said: Mapping[str, Any], names: Mapping[str, str], now: datetime.datetime
) -> RequestedLease:
    texts = {field: _text(said, field, names) for field in _ASKING}
    start = now
    if texts['start'] is not None:
        start = max(now, _instant(texts['start'], names['start'], now))
    events, before_end_date = _events(said.get('events'), names, now)
    return RequestedLease(
        start=start,
        end=_end(texts, names, start, now),
        name=(_text(said, 'name', names) or '')[:_LONGEST_NAME].strip() or None,
        on_end=_on_end(said.get('on_end'), names),
        guarantee=_guarantee(said.get('guarantee'), names),
        events=events,
        before_end_date=before_end_date,
    )


def _text(said: Mapping[str, Any], field: str, names: Mapping[str, str]) -> str | None:
    value = said.get(field)
    if value is None:
        return None
    if not isinstance(value, str):
        raise Unreadable(f'{names[field]}: a string is required')
    return value.strip()


def _end(
    texts: Mapping[str, str | None],
    names: Mapping[str, str],
    start: datetime.datetime,
    now: datetime.datetime,
) -> datetime.datetime:
    end, duration = texts['end'], texts['duration']
    if (end is None) == (duration is None):
        raise Unreadable(f'either {names["end"]} or {names["duration"]} is required')
    if end is not None:
        instant = _instant(end, names['end'], now)
        if instant <= start:
            raise Unreadable(f'{names["end"]}: {_shown(end)} is in the past, or before the start')
        return instant
    length = periods.duration(duration or '')
    if length is None or length < periods.SECOND:
        raise Unreadable(
            f'{names["duration"]}: {_shown(duration)} is not a duration such as 5d or PT90M'
        )
    try:
        return start + length
    except OverflowError:
        raise Unreadable(f'{names["duration"]}: the lease would end after the year 9999') from None


def _instant(text: str, name: str, now: datetime.datetime) -> datetime.datetime:
    moment = periods.instant(text, now)
    if moment is None:
        raise Unreadable(f'{name}: {_shown(text)} is not a time such as 2030-01-31T18:00Z')
    return moment


def _on_end(value: object, names: Mapping[str, str]) -> tuple[str, ...] | None:
    if value is None:
        return None
    words = value.split(',') if isinstance(value, str) else value
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise Unreadable(f'{names["on_end"]}: words separated by commas are required')
    return tuple(word.strip() for word in words)


def _guarantee(value: object, names: Mapping[str, str]) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    guaranteed = _BOOLEANS.get(value.strip().lower()) if isinstance(value, str) else None
    if guaranteed is None:
        raise Unreadable(f'{names["guarantee"]}: true or false is required')
    return guaranteed


def _events(
    value: object, names: Mapping[str, str], now: datetime.datetime
) -> tuple[tuple[EventDraft, ...], datetime.datetime | None]:
    """Return the requested events, and when to announce the end."""
    if value is None:
        return (), None
    if not isinstance(value, list) or not all(isinstance(event, dict) for event in value):
        raise Unreadable(f'{names["events"]}: a list of objects is required')
    if len(value) > _MOST_EVENTS:
        raise Unreadable(f'{names["events"]}: at most {_MOST_EVENTS} events are allowed')
    drafts, before_end_date = [], None
    for place, event in enumerate(value):
        name = f'{names["events"]}[{place}].event_date'
        date = event.get('event_date', event.get('time'))
        if not isinstance(date, str):
            raise Unreadable(f'{name} is required')
        time = _instant(date, name, now)
        if event.get('event_type') == EventKind.BEFORE_END:
            before_end_date = time
        else:
            drafts.append(EventDraft(kind=EventKind.NOTIFICATION, time=time))
    return tuple(drafts), before_end_date


def _shown(text: str | None) -> str:
    shown = repr(text)
    return shown if len(shown) <= 50 else f'{shown[:47]}...'
