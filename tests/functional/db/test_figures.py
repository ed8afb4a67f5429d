# SPDX-License-Identifier: Apache-2.0

"""Figures for metrics: numbers of leases, lags, capacity, and what the store records."""

from __future__ import annotations

import datetime
import threading

import sqlalchemy as sa

from climate.cmd.metrics import database_readings
from climate.db.reports.figures import Amount
from climate.db.reports.figures import Backlog
from climate.db.reports.figures import Figures
from climate.db.schema.tables import CHARGES
from climate.db.schema.tables import OUTBOX
from climate.db.schema.tables import WEBHOOK_DELIVERIES
from climate.db.transactions.store import Transaction
from climate.domain.charges import Charge
from climate.domain.charges import ChargeState
from climate.domain.lifecycles import LeaseStatus
from climate.domain.resources import Inventory
from climate.domain.webhooks import Webhook
from climate.metrics import catalogue
from climate.metrics.reading import Reading
from tests import metrics
from tests import services
from tests.functional.db import cases
from tests.functional.db import plans
from tests.threads import together

MINUTE = datetime.timedelta(minutes=1)
HOST = cases.TYPE


@services.on_each_engine(cases.StoreCase)
class Figured:
    """One store, with few rows."""

    guarded = False

    def figures(self) -> Figures:
        """Return the figures of a transaction that is closed with the test."""
        tx = self.enterContext(self.store.reading())
        return Figures(tx.session, tx.now)

    def test_nothing(self) -> None:
        figures = self.figures()
        self.assertEqual({0}, set(figures.leases().values()))
        none = Backlog(number=0, seconds=0.0)
        for found in (figures.overdue(), figures.outbox(), figures.webhooks(), figures.charges()):
            self.assertEqual(none, found)
        for rows in (figures.resources(), figures.capacity(), figures.allocated()):
            self.assertEqual([], list(rows))
        self.assertEqual({}, figures.reserved())

    def test_leases(self) -> None:
        for status in (LeaseStatus.ACTIVE, LeaseStatus.ACTIVE, LeaseStatus.TERMINATED):
            self.add(cases.lease(status=status))
        self.add(cases.lease(status=LeaseStatus.ERROR, deleted_at=cases.NOW))
        found = self.figures().leases()
        self.assertEqual((2, 0), (found['ACTIVE'], found['ERROR']))
        self.assertNotIn('TERMINATED', found)

    def test_overdue(self) -> None:
        for minutes in (-3, -1, 5):
            self.add(cases.lease(next_due=cases.NOW + minutes * MINUTE))
        self.assertEqual(Backlog(number=2, seconds=180.0), self.figures().overdue())

    def test_outbox(self) -> None:
        rows = [
            cases.notification(str(minutes), created_at=cases.NOW - minutes * MINUTE)
            for minutes in (1, 2, 9)
        ]

        def write(tx: Transaction) -> None:
            tx.outbox.insert(rows)
            tx.session.execute(
                sa.update(OUTBOX).where(OUTBOX.c.id == '9').values(set_aside_at=cases.NOW)
            )

        self.store.run(write)
        self.assertEqual(Backlog(number=2, seconds=120.0, set_aside=1), self.figures().outbox())

    def test_webhooks(self) -> None:
        common = {'project_id': 'p', 'user_id': 'u', 'name': '', 'url': '', 'secrets': ('x',)}
        late = (
            ('on', 'waiting', 2),
            ('on', 'waiting', -5),
            ('on', 'dead', 30),
            ('on', 'delivered', 40),
            ('off', 'waiting', 50),
        )

        def write(tx: Transaction) -> None:
            for webhook_id in ('on', 'off'):
                tx.webhooks.insert(Webhook(id=webhook_id, enabled=webhook_id == 'on', **common))
            for webhook_id, state, minutes in late:
                event_id = tx.deliveries.add_test(webhook_id, {})
                values = {'state': state, 'due': cases.NOW - minutes * MINUTE}
                row = WEBHOOK_DELIVERIES.c.id == event_id
                tx.session.execute(sa.update(WEBHOOK_DELIVERIES).where(row).values(values))

        self.store.run(write)
        # One waits for its next attempt, and one webhook is disabled.
        self.assertEqual(Backlog(number=2, seconds=120.0, set_aside=1), self.figures().webhooks())

    def test_charges(self) -> None:
        charges = [
            Charge(
                charge_id=state,
                filter_name='money',
                lease_id='a',
                state=state,
                payload={},
                due=cases.NOW,
            )
            for state in (ChargeState.ASKED, ChargeState.COMMIT, ChargeState.END)
        ]

        def write(tx: Transaction) -> None:
            tx.charges.insert(charges)
            tx.session.execute(sa.update(CHARGES).values(created_at=cases.NOW - MINUTE))

        self.store.run(write)
        self.assertEqual(Backlog(number=2, seconds=60.0), self.figures().charges())

    def add_supply(self) -> list[int]:
        """Write four available hosts with 8 VCPU, and one of each other state."""
        inventory = Inventory(resource_class='VCPU', total=5, reserved=1, allocation_ratio=2.0)
        supply = {'inventories': (inventory,)}
        ids = self.add_hosts(4, **supply)
        more = (
            cases.host(5, disabled=True, **supply),
            cases.host(6, reservable=False, **supply),
            cases.host(7, **supply),
            cases.host(8, project_id='p', **supply),
        )

        def write(tx: Transaction) -> None:
            others = [tx.resources.insert(host) for host in more]
            tx.failures.fail([others[2]])

        self.store.run(write)
        return ids

    def test_supply(self) -> None:
        self.add_supply()
        figures = self.figures()
        wanted = {(HOST, 'available', 4), (HOST, 'disabled', 2), (HOST, 'failed', 1)}
        self.assertEqual(wanted, set(figures.resources()))
        amount = Amount(resource_type=HOST, resource_class='VCPU', amount=32.0)
        self.assertEqual([amount], list(figures.capacity()))

    def test_use(self) -> None:
        first, second, third, fourth = self.add_supply()
        self.book([first], -1, 1, state='held')
        self.book([second], -1, 1, resource_class='VCPU', amount=3, state='held')
        self.book([second], -2, -1, resource_class='VCPU', amount=1, state='held')
        self.book([third], 1, 2)
        self.book([fourth], -2, -1, state='released')
        figures = self.figures()
        self.assertEqual({HOST: 2}, figures.reserved())
        # A whole host, and two parts of which one should have ended.
        amount = Amount(resource_type=HOST, resource_class='VCPU', amount=8.0 + 3 + 1)
        self.assertEqual([amount], list(figures.allocated()))

    def test_a_lease_that_is_late_to_end_counts_once(self) -> None:
        first, *_ = self.add_supply()
        self.book([first], -2, -1, state='held')
        self.book([first], -1, 1, state='held')
        figures = self.figures()
        self.assertEqual({HOST: 1}, figures.reserved())
        amount = Amount(resource_type=HOST, resource_class='VCPU', amount=8.0)
        self.assertEqual([amount], list(figures.allocated()))


class TestRecorded(cases.StoreCase):
    """What the store records, on MariaDB."""

    kind = services.MARIADB

    def setUp(self) -> None:
        self.recorded = metrics.RecordedMetrics()
        self.recorded.setUp()
        super().setUp()
        self.addCleanup(self.recorded.cleanUp)

    def test_connections(self) -> None:
        self.recorded.found.clear()
        with self.store.reading(), self.store.reading():
            self.assertEqual([(1,), (2,)], self.recorded.of(catalogue.CONNECTIONS))
        self.assertEqual([(1,), (2,), (1,), (0,)], self.recorded.of(catalogue.CONNECTIONS))

    def test_a_deadlock_is_one_retry(self) -> None:
        first, second = self.add_hosts(2)
        barrier = threading.Barrier(2)

        def cross(ids: tuple[int, int]) -> None:
            tries = []

            def work(tx: Transaction) -> None:
                tries.append(tx)
                for number in ids:
                    tx.resources.set_reservable(number, True)
                    if len(tries) == 1 and number == ids[0]:
                        barrier.wait(60)

            self.store.run(work)

        together(cross, ((first, second), (second, first)))
        self.assertEqual([(1,)], self.recorded.of(catalogue.DATABASE_RETRIES))


class TestReadings(cases.StoreCase):
    """What a manager reads at a scrape."""

    def test_one_statement_for_each_kind_of_row(self) -> None:
        with plans.captured(self.store.engine) as statements:
            found = list(database_readings(self.store))
        self.assertEqual(11, len(statements))
        self.assertEqual(Reading(metric=catalogue.DATABASE_UP, value=1), found[0])

    def test_without_the_database(self) -> None:
        store = self.closing(cases.connect('sqlite:////nowhere/climate.sqlite'))
        down = Reading(metric=catalogue.DATABASE_UP, value=0)
        self.assertEqual([down], list(database_readings(store)))
