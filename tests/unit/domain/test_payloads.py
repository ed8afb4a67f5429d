# SPDX-License-Identifier: Apache-2.0

"""The payloads of events, and the rows that earlier releases wrote."""

from __future__ import annotations

import datetime
import json

import hypothesis
from hypothesis import strategies

from climate.db.leases.events import dump_payload
from climate.db.leases.events import load_payload
from climate.domain import events
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.payloads import AnnouncementPayload
from climate.domain.payloads import ChangePayload
from climate.domain.payloads import EffectPayload
from climate.domain.payloads import EndPayload
from climate.domain.payloads import Move
from climate.domain.payloads import Payload
from tests import base

NOW = datetime.datetime(2027, 1, 1, 12, 0, 0, 250000, tzinfo=datetime.UTC)
MOVE = Move(reservation_id='r1', left='host-1', came=('host-2',), reason='it failed')
# As they are in the databases of releases that knew no versions.
OLD_ROWS: dict[EventKind, tuple[dict[str, object], Payload]] = {
    EventKind.BEFORE_START: (
        {'seconds_to_start': 300, 'at_once': True},
        AnnouncementPayload(seconds_to_start=300, at_once=True),
    ),
    EventKind.START: (
        {
            'tried_seconds': 12.5,
            'tried_until': '2027-01-01T12:00:00.250000+00:00',
            'well_seconds': 10.0,
            'wait_told': True,
            'told': True,
        },
        EffectPayload(
            tried=datetime.timedelta(seconds=12.5),
            tried_until=NOW,
            tried_when_well=datetime.timedelta(seconds=10),
            wait_notified=True,
            failure_notified=True,
        ),
    ),
    EventKind.END: (
        {'told': True, 'forced_end': True},
        EndPayload(failure_notified=True, forced=True),
    ),
    EventKind.UPDATE: (
        {
            'added_rows': {'r1': [4, 5]},
            'removed_rows': {'r1': {'3': 2}},
            'before': {'r1': {'min': 1}},
            'charge_id': 'q1',
            'moves': [
                {
                    'reservation_id': 'r1',
                    'left': 'host-1',
                    'came': ['host-2'],
                    'reason': 'it failed',
                }
            ],
            'forced': True,
            'undo': True,
            'tried_seconds': 1.0,
        },
        ChangePayload(
            added={'r1': (4, 5)},
            removed={'r1': {3: 2}},
            before={'r1': {'min': 1}},
            charge_id='q1',
            moves=(MOVE,),
            forced=True,
            undoing=True,
            tried=datetime.timedelta(seconds=1),
        ),
    ),
}

seconds = strategies.integers(0, 10**9).map(lambda millis: datetime.timedelta(milliseconds=millis))
effects = {
    'tried': seconds,
    'tried_until': strategies.none() | strategies.just(NOW),
    'tried_when_well': seconds,
    'wait_notified': strategies.booleans(),
    'failure_notified': strategies.booleans(),
}
payloads = {
    EventKind.NOTIFICATION: strategies.builds(Payload),
    EventKind.BEFORE_START: strategies.builds(
        AnnouncementPayload,
        seconds_to_start=strategies.integers(0, 10**6),
        at_once=strategies.booleans(),
    ),
    EventKind.CHECK: strategies.builds(EffectPayload, **effects),
    EventKind.DELETE: strategies.builds(EndPayload, **effects, forced=strategies.booleans()),
    EventKind.UPDATE: strategies.builds(
        ChangePayload,
        **effects,
        added=strategies.dictionaries(
            strategies.text(), strategies.lists(strategies.integers(), min_size=1).map(tuple)
        ),
        removed=strategies.dictionaries(
            strategies.text(),
            strategies.dictionaries(strategies.integers(), strategies.integers(), min_size=1),
        ),
        before=strategies.dictionaries(strategies.text(), strategies.just({'min': 1})),
        charge_id=strategies.none() | strategies.text(),
        moves=strategies.just(()) | strategies.just((MOVE,)),
        forced=strategies.booleans(),
        undoing=strategies.booleans(),
    ),
}


def event(kind: EventKind, **more: Payload) -> Event:
    return Event(id='e', lease_id='l', kind=kind, time=NOW, due=NOW, **more)


class TestStored(base.TestCase):
    """What is written can be read, by this release and by earlier ones."""

    def test_rows_of_earlier_releases_are_read(self) -> None:
        for kind, (stored, expected) in OLD_ROWS.items():
            self.assertEqual(expected, load_payload(kind, stored), kind)

    def test_earlier_releases_read_what_is_written(self) -> None:
        for stored, payload in OLD_ROWS.values():
            self.assertEqual({'version': 1, **stored}, dump_payload(payload))

    def test_a_row_without_any_facts_is_read_for_each_kind(self) -> None:
        for kind in EventKind:
            self.assertEqual(event(kind).payload, load_payload(kind, {}))
            self.assertEqual({'version': 1}, dump_payload(event(kind).payload))

    def test_keys_of_later_releases_are_ignored(self) -> None:
        found = load_payload(EventKind.START, {'version': 2, 'told': True, 'later': 1})
        self.assertEqual(EffectPayload(failure_notified=True), found)

    @hypothesis.given(strategies.data())
    def test_what_is_written_is_read_again(self, data: strategies.DataObject) -> None:
        kind = data.draw(strategies.sampled_from(sorted(payloads)))
        payload = data.draw(payloads[kind])
        self.assertEqual(payload, load_payload(kind, json.loads(json.dumps(dump_payload(payload)))))


class TestKinds(base.TestCase):
    """An event has the payload of its kind."""

    def test_another_payload_is_refused(self) -> None:
        self.assertRaises(TypeError, event, EventKind.START, payload=EndPayload())
        self.assertRaises(TypeError, event, EventKind.UPDATE, payload=EffectPayload())

    def test_only_events_with_effects_were_tried(self) -> None:
        for kind in EventKind:
            if kind in events.EFFECTS:
                self.assertEqual(datetime.timedelta(0), event(kind).effect.tried)
            else:
                self.assertRaises(TypeError, getattr, event(kind), 'effect')

    def test_only_ends_and_deletions_are_forced(self) -> None:
        ends = {kind for kind in EventKind if event(kind).end is not None}
        self.assertEqual({EventKind.END, EventKind.DELETE}, ends)

    def test_only_updates_change_a_lease(self) -> None:
        changes = {kind for kind in EventKind if event(kind).change is not None}
        self.assertEqual({EventKind.UPDATE}, changes)
