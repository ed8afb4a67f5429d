# SPDX-License-Identifier: Apache-2.0

"""Queries of events.

Payloads are stored as JSON, with a version. Rows without one are from releases that
had no versions; their keys are those of version 1. Version 1 keeps these keys because,
while managers are upgraded one after the other, older ones read and rewrite the rows
of newer ones.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

import sqlalchemy as sa

from climate.db.engine.prepared import prepared
from climate.db.schema.tables import EVENTS
from climate.db.schema.tables import LEASES
from climate.db.statements import inserts
from climate.db.statements.lists import Among
from climate.db.statements.repository import Repository
from climate.domain import events
from climate.domain.copies import picked
from climate.domain.copies import with_changes
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.lifecycles import EventState
from climate.domain.payloads import AnnouncementPayload
from climate.domain.payloads import ChangePayload
from climate.domain.payloads import EffectPayload
from climate.domain.payloads import EndPayload
from climate.domain.payloads import Move
from climate.domain.payloads import Payload

# Built once, see leases.py.
# In the order in which rows are unpacked: a row takes longer to look up a name than to
# yield all its values.
_COLUMNS = (
    *EVENTS.c['id', 'lease_id', 'kind', 'time', 'due', 'state', 'attempts', 'begun_at'],
    *EVENTS.c['error', 'payload', 'created_at', 'updated_at'],
)
_INSERT = prepared(sa.insert(EVENTS))
# Left out of new rows: psycopg parses a statement with more than 50 parameters each time.
_NULL_AT_FIRST: Final = ('begun_at', 'error')
_AS_IS: Final = ('time', 'due', 'state', 'attempts', 'begun_at', 'error')
_UPDATE = sa.update(EVENTS).where(EVENTS.c.id == sa.bindparam('row_id'))
_OF_LEASES = sa.select(*_COLUMNS).where(Among(EVENTS.c.lease_id, 'lease_ids'))

VERSION: Final = 1
"""The version of stored payloads."""

# Faster than calls of the enumerations, in lists with thousands of events.
_KINDS = {kind.value: kind for kind in EventKind}
_STATES = {state.value: state for state in EventState}
_PLAIN = {'version': VERSION}
_EMPTY = {kind: expected() for kind, expected in events.PAYLOADS.items()}


class Events(Repository):
    """Rows of ``events``."""

    def insert(self, new: Iterable[Event]) -> None:
        """Insert events, in one statement."""
        values = [
            {
                'id': event.id,
                'lease_id': event.lease_id,
                'kind': event.kind,
                **_changeable(event),
                'created_at': self._now,
            }
            for event in new
        ]
        for name in _NULL_AT_FIRST:
            if all(row[name] is None for row in values):
                for row in values:
                    del row[name]
        if values:
            inserts.insert(self._session, _INSERT, values)

    def of_leases(self, lease_ids: Collection[str]) -> list[Event]:
        """Return the events of the leases, in chronological order."""
        rows = self._session.execute(_OF_LEASES, {'lease_ids': lease_ids})
        return sorted(_events(rows.all()), key=events.order)

    def update(self, event: Event) -> None:
        """Update the columns of *event* that may change."""
        self._update(event, _changeable(event))

    def update_all(self, changed: Iterable[Event]) -> None:
        """Update several events, in one statement."""
        values = [
            {'row_id': one.id, **_changeable(one), 'updated_at': self._now} for one in changed
        ]
        if values:
            self._session.execute(_UPDATE, values)

    def update_from(self, old: Event, event: Event) -> None:
        """Update only the columns in which *event* differs from *old*, which is stored."""
        self._update(event, _changes(old, event))

    def _update(self, event: Event, values: dict[str, Any]) -> None:
        self._session.execute(_UPDATE, {'row_id': event.id, **values, 'updated_at': self._now})

    def keep(self, lease: Lease, event: Event) -> Lease:
        """Update *event*, and return *lease* with it."""
        kept = tuple(event if item.id == event.id else item for item in lease.events)
        self.update(event)
        return with_changes(lease, events=kept)

    def delete(self, ids: Collection[str]) -> None:
        """Delete events that will not happen and need no record."""
        if ids:
            self._delete_rows(EVENTS, EVENTS.c.id.in_(ids))

    def overdue(
        self,
        before: datetime.datetime,
        kinds: Collection[EventKind],
        limit: int,
        *,
        looked_at: datetime.datetime,
    ) -> list[Event]:
        """Return open events that were scheduled before *before*, for operators.

        Each retry postpones an event that fails, but it stays overdue. A preparation
        that waits for another lease does not count: that lease may hold what it needs
        for years.

        :param looked_at: considers only leases that are due before this, so that the
            query skips the rows of the distant future
        """
        query = (
            sa.select(*_COLUMNS)
            .join(LEASES, LEASES.c.id == EVENTS.c.lease_id)
            .where(
                LEASES.c.next_due < looked_at,
                EVENTS.c.state.in_(events.OPEN),
                EVENTS.c.time < before,
                EVENTS.c.kind.in_(kinds),
                sa.or_(
                    EVENTS.c.kind != EventKind.PREPARE, EVENTS.c.attempts > 0, EVENTS.c.due < before
                ),
            )
            .order_by(EVENTS.c.time, EVENTS.c.id)
            .limit(limit)
        )
        return _events(self._session.execute(query).all())


def _changeable(event: Event) -> dict[str, Any]:
    return {**picked(event, *_AS_IS), 'payload': dump_payload(event.payload)}


def _changes(old: Event, new: Event) -> dict[str, Any]:
    """Return the columns in which *new* differs from *old*."""
    changed = {
        name: getattr(new, name) for name in _AS_IS if getattr(new, name) != getattr(old, name)
    }
    if new.payload != old.payload:
        changed['payload'] = dump_payload(new.payload)
    return changed


def _events(rows: Sequence[Any]) -> list[Event]:
    payloads = [load_payload(_KINDS[row[2]], row[9]) for row in rows]
    return [
        Event(
            id=event_id,
            lease_id=lease_id,
            kind=_KINDS[kind],
            time=time,
            due=due,
            state=_STATES[state],
            attempts=attempts,
            begun_at=begun_at,
            error=error,
            payload=payload,
            created_at=created_at,
            updated_at=updated_at,
        )
        for (
            event_id,
            lease_id,
            kind,
            time,
            due,
            state,
            attempts,
            begun_at,
            error,
            _,
            created_at,
            updated_at,
        ), payload in zip(rows, payloads, strict=True)
    ]


def dump_payload(payload: Payload) -> dict[str, Any]:
    """Return a payload as JSON, without default values."""
    stored: dict[str, Any] = {'version': VERSION}
    if isinstance(payload, AnnouncementPayload):
        stored |= {'seconds_to_start': payload.seconds_to_start, 'at_once': payload.at_once}
    if isinstance(payload, EffectPayload):
        stored |= {
            'tried_seconds': payload.tried.total_seconds(),
            'tried_until': payload.tried_until and payload.tried_until.isoformat(),
            'well_seconds': payload.tried_when_well.total_seconds(),
            'wait_told': payload.wait_notified,
            'told': payload.failure_notified,
        }
    if isinstance(payload, EndPayload):
        stored |= {'forced_end': payload.forced}
    if isinstance(payload, ChangePayload):
        stored |= {
            'added_rows': {key: list(ids) for key, ids in payload.added.items()},
            'removed_rows': {
                key: {str(row_id): amount for row_id, amount in amounts.items()}
                for key, amounts in payload.removed.items()
            },
            'before': {key: dict(request) for key, request in payload.before.items()},
            'charge_id': payload.charge_id,
            'moves': [
                {**dataclasses.asdict(move), 'came': list(move.came)} for move in payload.moves
            ],
            'forced': payload.forced,
            'undo': payload.undoing,
        }
    return {key: value for key, value in stored.items() if value not in (None, 0, {}, [])}


def load_payload(kind: EventKind, stored: Mapping[str, Any]) -> Payload:
    """Return a payload that this release or an earlier one has stored.

    Unknown keys are ignored.
    """
    if not stored or stored == _PLAIN:
        return _EMPTY[kind]
    expected = events.PAYLOADS[kind]
    if expected is AnnouncementPayload:
        return AnnouncementPayload(
            seconds_to_start=stored.get('seconds_to_start') or 0,
            at_once=bool(stored.get('at_once')),
        )
    if not issubclass(expected, EffectPayload):
        return expected()
    until = stored.get('tried_until')
    return expected(
        tried=datetime.timedelta(seconds=stored.get('tried_seconds') or 0.0),
        tried_until=datetime.datetime.fromisoformat(until) if until else None,
        tried_when_well=datetime.timedelta(seconds=stored.get('well_seconds') or 0.0),
        wait_notified=bool(stored.get('wait_told')),
        failure_notified=bool(stored.get('told')),
        **_facts(expected, stored),
    )


def _facts(expected: type[EffectPayload], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that only the payload of this kind has."""
    if expected is EndPayload:
        return {'forced': bool(stored.get('forced_end'))}
    if expected is not ChangePayload:
        return {}
    removed = stored.get('removed_rows') or {}
    moves = stored.get('moves') or ()
    return {
        'added': {key: tuple(ids) for key, ids in (stored.get('added_rows') or {}).items()},
        'removed': {
            key: {int(row_id): amount for row_id, amount in amounts.items()}
            for key, amounts in removed.items()
        },
        'before': dict(stored.get('before') or {}),
        'charge_id': stored.get('charge_id'),
        'moves': tuple(Move(**{**move, 'came': tuple(move['came'])}) for move in moves),
        'forced': bool(stored.get('forced')),
        'undoing': bool(stored.get('undo')),
    }
