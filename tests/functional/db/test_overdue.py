# SPDX-License-Identifier: Apache-2.0

"""What ``climate-manage event list`` finds."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any

from climate.db.transactions.store import Transaction
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft
from climate.leases import schedule
from tests.functional import fixtures
from tests.functional.fixtures import ServiceCase

SECOND = datetime.timedelta(seconds=1)
START = fixtures.NOW + 3600 * SECOND


class TestOverdue(ServiceCase):
    """Events that should have happened by now."""

    def setUp(self) -> None:
        super().setUp()
        draft = LeaseDraft(name='l', start=START, end=START + 3600 * SECOND)
        caller = Caller(user_id='u', project_id='p')
        self.lease: Lease = self.service.services.leases.create(caller, draft)

    def overdue(self, now: datetime.datetime, kind: EventKind = EventKind.START) -> list[EventKind]:
        """Return the kinds of what is overdue at *now*."""
        with self.service.store.reading() as tx:
            found = tx.events.overdue(now, list(EventKind), 10, looked_at=now + 120 * SECOND)
        return [event.kind for event in found if event.kind is kind]

    def test_nothing_before_its_time(self) -> None:
        self.assertEqual([], self.overdue(START - SECOND))

    def test_overdue_events_are_found(self) -> None:
        self.assertEqual([EventKind.START], self.overdue(START + SECOND))

    def test_what_fails_again_and_again(self) -> None:
        now = START + 60 * SECOND
        event = next(one for one in self.lease.events if one.kind is EventKind.START)
        failing = dataclasses.replace(event, due=now + 30 * SECOND, attempts=6, error='HTTP 503')

        def postpone(tx: Transaction) -> None:
            tx.events.update(failing)
            tx.leases.update(dataclasses.replace(self.lease, next_due=failing.due))

        self.service.store.run(postpone)
        self.assertEqual([EventKind.START], self.overdue(now))

    def test_a_preparation_is_late_if_it_fails_or_nothing_looks_at_it(self) -> None:
        made = schedule.new_event(self.lease.id, EventKind.PREPARE, fixtures.NOW)
        for waited, attempts, wanted in (
            # It waits for the lease before; it fails; no manager is there.
            (30, 0, []),
            (30, 3, [EventKind.PREPARE]),
            (-30, 0, [EventKind.PREPARE]),
        ):
            now = fixtures.NOW + 600 * SECOND
            due = now + waited * SECOND
            event = dataclasses.replace(made, due=due, attempts=attempts, error='waiting: x')

            def write(tx: Transaction, event: Event = event, due: Any = due) -> None:
                tx.events.delete([event.id])
                tx.events.insert([event])
                tx.leases.update(dataclasses.replace(self.lease, next_due=due))

            self.service.store.run(write)
            self.assertEqual(wanted, self.overdue(now, EventKind.PREPARE))
