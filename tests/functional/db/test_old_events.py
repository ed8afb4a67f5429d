# SPDX-License-Identifier: Apache-2.0

"""Events that a release without versions of payloads wrote."""

from __future__ import annotations

import json

import sqlalchemy as sa

from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.leases import following
from tests import services
from tests.functional.db import cases

# A change as Climate stored it before payloads had versions.
STORED = {
    'added_rows': {'r': [7]},
    'removed_rows': {'r': {'3': 2}},
    'before': {'r': {'min': 1}},
    'charge_id': None,
    'moves': [{'reservation_id': 'r', 'left': 'a', 'came': ['b'], 'reason': 'it failed'}],
    'forced': False,
    'tried_seconds': 30.0,
    'tried_until': '2030-01-01T11:59:50+00:00',
    'undo': True,
}


@services.on_each_engine(cases.StoreCase, 'TestOldEventsOn')
class OldEvents:
    """They go on where they were."""

    def setUp(self) -> None:
        super().setUp()
        event = Event(id='e', lease_id='l', kind=EventKind.UPDATE, time=cases.NOW, due=cases.NOW)
        self.add(cases.lease(0, 1, id='l', events=(event,)))
        with self.store.engine.begin() as connection:
            connection.execute(
                sa.text("UPDATE events SET payload = :stored WHERE id = 'e'"),
                {'stored': json.dumps(STORED)},
            )

    def event(self) -> Event:
        with self.store.reading() as tx:
            (event,) = (item for item in tx.events.of_leases(['l']) if item.id == 'e')
        return event

    def stored(self) -> dict[str, object]:
        with self.store.engine.connect() as connection:
            found = connection.scalar(sa.text("SELECT payload FROM events WHERE id = 'e'"))
        return dict(found if isinstance(found, dict) else json.loads(found))

    def test_it_is_read(self) -> None:
        event = self.event()
        self.assertTrue(event.undoing)
        self.assertEqual(({7}, {3: 2}), (set(following.added(event)), following.removed(event)))
        self.assertEqual(('b',), event.change.moves[0].came)
        self.assertEqual(30, event.tried.total_seconds())

    def test_an_earlier_release_can_go_on_with_it(self) -> None:
        looked_at = self.event().looked_at(cases.NOW)
        self.store.run(lambda tx: tx.events.update(looked_at))
        expected = {key: value for key, value in STORED.items() if value}
        expected |= {'version': 1, 'tried_seconds': 40.0, 'tried_until': cases.NOW.isoformat()}
        self.assertEqual(expected, self.stored())
