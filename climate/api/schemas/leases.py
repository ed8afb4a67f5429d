# SPDX-License-Identifier: Apache-2.0

"""Bodies of leases.

At 1.0, null counts as a missing optional field, because existing clients send it, and
fields of newer microversions are dropped.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.api.http import bodies
from climate.api.http import dates
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_0
from climate.api.http.microversions import V1_1
from climate.api.http.microversions import V1_3
from climate.api.http.microversions import V1_4
from climate.api.http.microversions import V1_5
from climate.api.http.microversions import V1_8
from climate.api.http.validation import Mismatch
from climate.api.http.validation import Schema
from climate.api.http.validation import Validator
from climate.api.schemas import placements
from climate.api.schemas import preemptible
from climate.api.schemas import windows
from climate.domain import periods
from climate.domain import requests
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.leases import LEAST_PRIORITY
from climate.domain.leases import MOST_PRIORITY
from climate.domain.leases import NOTICES
from climate.domain.periods import SECOND

_MOST_ITEMS = 100
# Bounds against abuse: ten years, and 32 messages for one lease.
_LONGEST_NOTICE = 10 * 366 * 86400
# The precision of times at 1.0.
_MINUTE = datetime.timedelta(minutes=1)

_NAME = {'type': 'string', 'minLength': 1, 'maxLength': 80}
_NAME_OR_NULL = {**_NAME, 'type': ['string', 'null']}
_TEXT = {'type': 'string'}
_TEXT_OR_NULL = {'type': ['string', 'null']}
_NOTIFY_BEFORE_START = {
    'type': ['array', 'null'],
    'maxItems': 32,
    'items': {'type': 'integer', 'minimum': 1, 'maximum': _LONGEST_NOTICE},
}
_NOTICES_1_8 = {
    'type': ['array', 'null'],
    'maxItems': _MOST_ITEMS,
    'items': {'type': 'string', 'enum': list(NOTICES)},
}
_NOTICES = {
    **_NOTICES_1_8,
    'items': {
        'type': 'string',
        'enum': [name for name in NOTICES if name not in ('moved', 'yielding')],
    },
}
_DURATION = {'type': ['integer', 'string']}
RESERVATIONS: dict[str, Any] = {
    'type': 'array',
    'maxItems': _MOST_ITEMS,
    'items': {
        'type': 'object',
        'required': ['resource_type'],
        'properties': {'resource_type': {'type': 'string', 'minLength': 1, 'maxLength': 64}},
    },
}
_RESERVATION_CHANGES = {
    'type': 'array',
    'maxItems': _MOST_ITEMS,
    'items': {
        'type': 'object',
        'required': ['id'],
        'properties': {'id': {'type': 'string', 'minLength': 1, 'maxLength': 36}},
    },
}


def _events(*, strict: bool) -> dict[str, Any]:
    one: dict[str, Any] = {
        'type': 'object',
        'required': ['event_type'],
        'properties': {
            'event_type': {'type': 'string', 'enum': ['notification', 'before_end_lease']},
            'time': _TEXT_OR_NULL,
            'event_date': _TEXT_OR_NULL,
        },
    }
    if strict:
        one['additionalProperties'] = False
    return {'type': 'array', 'maxItems': _MOST_ITEMS, 'items': one}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, 'type': [schema['type'], 'null']}


CREATE_1_0: dict[str, Any] = {
    'type': 'object',
    'required': ['name', 'start_date', 'end_date'],
    'properties': {
        'name': _NAME,
        'start_date': _TEXT,
        'end_date': _TEXT,
        'before_end_date': _TEXT_OR_NULL,
        'reservations': _or_null(RESERVATIONS),
        'events': _or_null(_events(strict=False)),
    },
}

CREATE_1_1: dict[str, Any] = {
    'type': 'object',
    'required': ['name', 'start_date'],
    'additionalProperties': False,
    'properties': {
        **CREATE_1_0['properties'],
        'end_date': _TEXT_OR_NULL,
        'duration': {'type': ['integer', 'string', 'null']},
        'notify_before_start': _NOTIFY_BEFORE_START,
        'events': _or_null(_events(strict=True)),
    },
}

UPDATE_1_0: dict[str, Any] = {
    'type': 'object',
    'properties': {
        'name': _NAME_OR_NULL,
        'start_date': _TEXT_OR_NULL,
        'end_date': _TEXT_OR_NULL,
        'before_end_date': _TEXT_OR_NULL,
        'reservations': _or_null(_RESERVATION_CHANGES),
    },
}

UPDATE_1_1: dict[str, Any] = {
    'type': 'object',
    'additionalProperties': False,
    'properties': {
        'name': _NAME,
        'start_date': _TEXT,
        'end_date': _TEXT,
        'duration': _DURATION,
        'before_end_date': _TEXT_OR_NULL,
        'notify_before_start': _NOTIFY_BEFORE_START,
        'reservations': _RESERVATION_CHANGES,
    },
}


def _with(schema: dict[str, Any], field: str, value: Schema) -> dict[str, Any]:
    return {**schema, 'properties': {**schema['properties'], field: value}}


CREATE_1_3 = _with(CREATE_1_1, 'notices', _NOTICES)
UPDATE_1_3 = _with(UPDATE_1_1, 'notices', _NOTICES)
RESERVATIONS_1_4 = placements.with_placement(RESERVATIONS)
CREATE_1_4 = _with(CREATE_1_3, 'reservations', _or_null(RESERVATIONS_1_4))
CREATE_1_4 = _with(CREATE_1_4, 'dry_run', {'type': 'boolean'})
UPDATE_1_4 = _with(UPDATE_1_3, 'dry_run', {'type': 'boolean'})
_END_REASON = {'type': 'string', 'minLength': 1, 'maxLength': 1000}
UPDATE_1_5 = _with(UPDATE_1_4, 'end_reason', _END_REASON)

_PRIORITY = {'type': 'integer', 'minimum': LEAST_PRIORITY, 'maximum': MOST_PRIORITY}

CREATE_1_8 = {
    **CREATE_1_4,
    'required': ['name'],
    'properties': {
        **CREATE_1_4['properties'],
        'start_date': _TEXT_OR_NULL,
        'notices': _NOTICES_1_8,
        **windows.FIELDS,
        **windows.WAITING,
        **preemptible.FIELDS,
        **preemptible.PREEMPTING,
        'priority': _PRIORITY,
    },
}
UPDATE_1_8 = {
    **UPDATE_1_5,
    'properties': {
        **UPDATE_1_5['properties'],
        'notices': _NOTICES_1_8,
        **windows.CHANGES,
        **preemptible.PREEMPTING,
        'priority': _PRIORITY,
    },
}

SCHEMAS: dict[str, dict[Microversion, Schema]] = {
    'create': {
        V1_0: CREATE_1_0,
        V1_1: CREATE_1_1,
        V1_3: CREATE_1_3,
        V1_4: CREATE_1_4,
        V1_8: CREATE_1_8,
    },
    'update': {
        V1_0: UPDATE_1_0,
        V1_1: UPDATE_1_1,
        V1_3: UPDATE_1_3,
        V1_4: UPDATE_1_4,
        V1_5: UPDATE_1_5,
        V1_8: UPDATE_1_8,
    },
}

_VALIDATORS = {
    (verb, version): Validator(schema)
    for verb, versions in SCHEMAS.items()
    for version, schema in versions.items()
}


def check(verb: str, version: Microversion, body: dict[str, Any]) -> None:
    """Check a body of *verb* (``create`` or ``update``) at *version*.

    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    validator = _VALIDATORS[verb, max(v for v in SCHEMAS[verb] if v <= version)]
    try:
        validator.code(body)
    except Mismatch:
        validator.refuse(body)


class Reader:
    """Reads one body at one instant and one microversion.

    :param now: the instant that ``now`` means in the request (aware UTC)
    """

    def __init__(self, body: dict[str, Any], version: Microversion, now: datetime.datetime) -> None:
        self._body = body
        self._version = version
        self._modern = version >= V1_1
        self._now = now
        self._present = now if self._modern else now.replace(second=0, microsecond=0)

    @property
    def dry_run(self) -> bool:
        """Whether the caller wants a rehearsal, of a body that was checked."""
        return self._version >= V1_4 and bool(self._body.get('dry_run'))

    def draft(self, max_reservations: int, lease_id: str | None = None) -> requests.LeaseDraft:
        """Return the lease that the caller wants.

        :param max_reservations: the maximum number of its reservations
        :param lease_id: None for a generated one
        :raises climate.exceptions.InvalidInput: naming the field and why
        """
        body = self._body
        check('create', self._version, body)
        if len(body.get('reservations') or ()) > max_reservations:
            raise exceptions.MalformedParameter.of(
                'reservations', f'at most {max_reservations} items are allowed'
            )
        window = windows.read(body, self._version, self._now)
        yields = preemptible.read(body, self._version) if preemptible.FIELDS.keys() & body else {}
        times = self._times('start_date', 'end_date')
        start = times['start_date'] if window.earliest is None else window.earliest
        end = self._end(times.get('end_date'), lambda: start)
        if end is None:
            raise exceptions.MissingParameter(param='end_date')
        window.check(end)
        events, before_end_date = self._events()
        before_end_date = self._optional_time('before_end_date') or before_end_date
        announced, notices = self._announcements(), self._notices()
        reservations = tuple(body.get('reservations') or ())
        plain = reservations, ()
        reservations, placed = placements.split(reservations) if self._version >= V1_4 else plain
        return requests.LeaseDraft(
            id=lease_id,
            name=self._name(),
            start=start,
            end=end,
            **vars(window),
            **yields,
            priority=body.get('priority'),
            preempt_own=self._preempt_own,
            reservations=reservations,
            placements=placed,
            events=events,
            before_end_date=before_end_date,
            notify_before_start=None if announced is requests.UNSET else announced,
            notices=None if notices is requests.UNSET else notices,
            strict=self._modern,
            traits=self._version >= V1_5,
            grain=SECOND if self._modern else _MINUTE,
            asked_at=self._now,
        )

    def change(self, current: Callable[[], Lease]) -> requests.LeaseChange:
        """Return the change of a lease.

        :param current: returns the lease as it is; called only if the new end depends on it
        :raises climate.exceptions.InvalidInput: naming the field and why
        """
        body = self._body
        check('update', self._version, body)
        times = self._times('start_date', 'end_date')
        start = times.get('start_date')
        window = windows.changed(body, self._version, self._now, current)
        end = None
        if window.duration is None:
            end = self._end(times.get('end_date'), lambda: start or current().period.start)
        return requests.LeaseChange(
            name=None if body.get('name') is None else self._name(),
            start=start,
            end=end,
            window=window,
            priority=body.get('priority', requests.UNSET),
            preempt_own=self._preempt_own,
            before_end_date=self._before_end_date(),
            notify_before_start=self._announcements(),
            notices=self._notices(),
            reservations=tuple(
                requests.ReservationChange(id=change['id'], body=change)
                for change in body.get('reservations') or ()
            ),
            end_reason=self._end_reason(),
            strict=self._modern,
            traits=self._version >= V1_5,
            grain=SECOND if self._modern else _MINUTE,
            asked_at=self._now,
        )

    @property
    def _preempt_own(self) -> bool:
        return self._version >= V1_8 and bool(self._body.get('preempt_own'))

    def _name(self) -> str:
        name: str = self._body['name']
        return bodies.name('name', name)

    def _times(self, *fields: str) -> dict[str, datetime.datetime]:
        """Return the instants of those *fields* that have one."""
        given = {key: value for key in fields if (value := self._body.get(key)) is not None}
        return self._instants(given)

    def _instants(self, given: Mapping[str, str]) -> dict[str, datetime.datetime]:
        instants = {}
        for field, text in given.items():
            instant = periods.instant(text, self._present, zoned=self._modern)
            if instant is None:
                raise dates.invalid(field, text, self._version)
            instants[field] = instant
        return instants

    def _optional_time(self, field: str) -> datetime.datetime | None:
        return self._times(field).get(field)

    def _before_end_date(self) -> datetime.datetime | requests.Unset | None:
        if 'before_end_date' not in self._body:
            return requests.UNSET
        return self._optional_time('before_end_date')

    def _end(
        self, end: datetime.datetime | None, start: Callable[[], datetime.datetime]
    ) -> datetime.datetime | None:
        duration = self._body.get('duration') if self._modern else None
        if duration is None:
            return end
        if end is not None:
            raise exceptions.InvalidInput.of('duration', 'end_date and duration exclude each other')
        return dates.add('duration', start(), dates.parse_duration('duration', duration))

    def _announcements(self) -> tuple[int, ...] | requests.Unset | None:
        if not self._modern or 'notify_before_start' not in self._body:
            return requests.UNSET
        wanted = self._body['notify_before_start']
        return None if wanted is None else tuple(sorted(set(wanted), reverse=True))

    def _notices(self) -> tuple[str, ...] | requests.Unset | None:
        if self._version < V1_3 or 'notices' not in self._body:
            return requests.UNSET
        wanted = self._body['notices']
        return None if wanted is None else tuple(name for name in NOTICES if name in wanted)

    def _end_reason(self) -> str | None:
        reason: str | None = self._body.get('end_reason') if self._version >= V1_5 else None
        if reason is not None and not {'end_date', 'duration'} & self._body.keys():
            raise exceptions.InvalidInput.of('end_reason', 'it needs end_date or duration')
        return reason

    def _events(self) -> tuple[tuple[requests.EventDraft, ...], datetime.datetime | None]:
        """Return the user's notifications, and before_end_date if an event sets it."""
        drafts = []
        before_end_date = None
        for i, event in enumerate(self._body.get('events') or ()):
            time = self._event_time(f'events[{i}]', event)
            # Old clients send before_end_date as an event.
            if event['event_type'] == EventKind.BEFORE_END:
                before_end_date = time
            else:
                drafts.append(requests.EventDraft(kind=EventKind.NOTIFICATION, time=time))
        return tuple(drafts), before_end_date

    def _event_time(self, field: str, event: dict[str, Any]) -> datetime.datetime:
        # Heat sends time, the command line sends event_date.
        for key in ('time', 'event_date'):
            if event.get(key) is not None:
                name = f'{field}.{key}'
                return self._instants({name: event[key]})[name]
        raise exceptions.MissingParameter(param=f'{field}.time')
