# SPDX-License-Identifier: Apache-2.0
"""The queries that are asked all the time never read a large table whole."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable

import sqlalchemy as sa

from climate.allocation import requirements
from climate.allocation.matches import Match
from climate.db.administration import purge
from climate.db.booking import verification
from climate.db.booking.verification import Addition
from climate.db.messages.outbox import OutboxRow
from climate.db.migrations import migration
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain.history import Effect
from climate.domain.requests import LeaseQuery
from tests import base
from tests import services
from tests.functional import bulk
from tests.functional import whole_leases
from tests.functional.db import cases
from tests.functional.db import plans

LOAD = bulk.Load(hosts=500, allocations=30_000, group=2, now=cases.NOW)
WINDOW = cases.hours(24, 25)
REQUIREMENT = requirements.parse('["and", [">=", "$vcpus", "64"], ["not", ["==", "$rack", "r3"]]]')
ANY = Match(resource_type=cases.TYPE)
REQUIRED = Match(resource_type=cases.TYPE, requirement=REQUIREMENT)
ASKS = ('SELECT', 'UPDATE', 'DELETE', 'WITH')

VERIFIED = [
    Addition(
        resource_id=number,
        resource_class=name,
        period=WINDOW,
        clear=WINDOW.padded(datetime.timedelta(minutes=5)),
        fresh=True,
    )
    for number, name in ((1, None), (2, None), (3, 'VCPU'))
]

Query = Callable[[Transaction], object]


def page(**facts: object) -> Query:
    """Return a query for a page of leases."""
    wanted = {'project_id': None, **facts}
    return lambda tx: tx.lease_lists.page(LeaseQuery(**wanted), 50)


@services.on_each_engine(base.TestCase)
class Plans:
    """One database full of leases, and every hot query on it."""

    def setUp(self) -> None:
        super().setUp()
        self.store = self.closing(cases.connect(self.useFixture(services.Database(self.kind)).url))
        cases.migration.sync(self.store.engine)
        LOAD.fill(self.store.engine)
        self._fill_outbox(self.store)
        self._fill_steps(self.store)
        bulk.analyze(self.store.engine)
        with self.store.reading() as tx:
            pending = LeaseQuery(project_id='project-7', status='PENDING')
            self.lease = whole_leases.every(tx, pending)[0]

    def _fill_outbox(self, store: Store) -> None:
        bulk.insert(
            store.engine,
            'outbox',
            'id, lease_id, event_type, priority, payload, created_at',
            (
                (str(uuid.uuid4()), f'lease-{number % 2000}', 't', 'INFO', '{}', '2030-01-01')
                for number in range(6000)
            ),
        )

    def _fill_steps(self, store: Store) -> None:
        events = migration.metadata().tables['events']
        names = ['lease_id', 'event_id', 'effect', 'state', 'attempts', 'first_at', 'last_at']
        rows = sa.select(
            events.c.lease_id,
            events.c.id,
            sa.literal('start'),
            sa.literal('done'),
            sa.literal(1),
            events.c.time,
            events.c.time,
            sa.literal('{}'),
        )
        steps = migration.metadata().tables['steps']
        with store.engine.begin() as connection:
            connection.execute(sa.insert(steps).from_select([*names, 'detail'], rows))

    def queries(self) -> dict[str, Query]:
        """Return what is asked, by name."""
        mine = [self.lease.reservations[0].id]
        marker = self.lease.id
        now = datetime.timedelta(minutes=1) + cases.NOW
        return {
            'among': lambda tx: tx.search.among([*range(1, 9)], ANY, WINDOW),
            'among, required': lambda tx: tx.search.among([*range(1, 9)], REQUIRED, WINDOW),
            'among, with cleaning': lambda tx: tx.search.among([1, 2], ANY, cases.hours(-1, 1)),
            'named': lambda tx: tx.search.named(['compute-1', 'compute-2'], ANY, WINDOW),
            'crowded': lambda tx: tx.allocations.crowded(mine),
            'give_back': lambda tx: tx.allocations.give_back({1: 1}),
            'clashes': lambda tx: tx.allocations.clashes([1, 2, 3], WINDOW, mine),
            'holders': lambda tx: tx.allocations.holders(mine),
            'live_of': lambda tx: tx.allocations.live_of(mine),
            'lock_resources': lambda tx: tx.allocations.lock_resources(mine),
            'in_use': lambda tx: tx.allocations.in_use(7),
            'mark_held': lambda tx: tx.allocations.mark_held(mine),
            'verify': lambda tx: verification.violations(tx.session, VERIFIED, own=mine),
            'move': lambda tx: tx.book(range(500)).move([1, 2], start=None, end=now),
            'release': lambda tx: tx.allocations.release(mine),
            'required_of_resource': lambda tx: tx.reservations.required_of_resource(7),
            'take': lambda tx: tx.claims.take('me', now, 8),
            'next_due': lambda tx: tx.claims.next_due(),
            'renew': lambda tx: tx.claims.renew('me', [self.lease.id], now),
            'claimed': lambda tx: tx.leases.claimed(self.lease.id, 'me'),
            'get': lambda tx: tx.leases.get(self.lease.id, 'project-7'),
            'events': lambda tx: tx.events.of_leases([self.lease.id]),
            'steps of an event': lambda tx: tx.steps.of_event(self.lease.id, 'e'),
            'steps of a lease': lambda tx: tx.steps.of_lease(self.lease.id),
            'steps, undo': lambda tx: tx.steps.undo(self.lease.id, mine, [Effect.START]),
            'lead_time': lambda tx: tx.search.lead_times.longest([1, 2, 3]),
            'outbox, claim': lambda tx: tx.outbox.claim('me', now, 100),
            'outbox, insert': lambda tx: tx.outbox.insert(
                [OutboxRow(id='i', subject='l', event_type='t', payload={}, created_at=now)]
            ),
            'page of a project': page(project_id='project-7'),
            'page of all': page(),
            'page after a marker': page(marker=marker),
            'page of a project after a marker': page(project_id='project-7', marker=marker),
            'page of a status': page(status='ACTIVE'),
            'page of a name': page(name='lease-3-7'),
            'page of a resource type': page(resource_type=cases.TYPE),
            'page, latest first': page(sort=(('created_at', 'desc'),)),
            'page by start': page(sort=(('start_date', 'asc'),)),
            'page by end': page(sort=(('end_date', 'desc'),), marker=marker),
            'page, starts soon': page(start_after=cases.at(1), start_before=cases.at(2)),
            'page, ends soon': page(end_after=cases.at(1), end_before=cases.at(2)),
        }

    def test_no_large_table_is_read_whole(self) -> None:
        seen = {}
        for name, query in self.queries().items():
            with plans.captured(self.store.engine) as statements:
                self.store.run(query)
            asked = [item for item in statements if item.verb in ASKS]
            self.assertTrue(asked or name == 'outbox, insert', f'{name} asks nothing')
            for statement in asked:
                found = plans.full_scans(self.store.engine, statement)
                if found:
                    seen[name] = (found, statement.text)
        with plans.captured(self.store.engine) as statements:
            purge.purge(self.store, cases.at(-110))
        for statement in statements:
            found = plans.full_scans(self.store.engine, statement)
            if found:
                seen['purge'] = (found, statement.text[:300])
        self.assertEqual({}, seen)
        # And what is read whole would be seen.
        whole = plans.Statement(text='SELECT amount FROM allocations', parameters=())
        self.assertEqual(1, len(plans.full_scans(self.store.engine, whole)))
