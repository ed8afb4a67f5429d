# SPDX-License-Identifier: Apache-2.0

"""How much leases booked and used, summed by each engine."""

from __future__ import annotations

import dataclasses
from typing import Any

from fixtures import MonkeyPatch

from climate import exceptions
from climate.db.reports import usage
from climate.domain.leases import AllocationState
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.domain.lifecycles import ReservationStatus
from climate.domain.resources import Inventory
from climate.domain.usage import UsageKey
from climate.domain.usage import UsageQuery
from tests import services
from tests.databases import fetch
from tests.functional.db import cases

HOUR = 3600
INVENTORIES = (Inventory(resource_class='VCPU', total=8),)


@services.on_each_engine(cases.StoreCase)
class Reported:
    """Two hosts, and a window of a day around noon."""

    def setUp(self) -> None:
        super().setUp()
        self.hosts = self.add_hosts(2, inventories=INVENTORIES)

    def report(self, by: UsageKey = UsageKey.TYPE, **more: Any) -> list[tuple[Any, ...]]:
        """Return key, class, leases, and hours that are booked, used, unused and ahead."""
        query = UsageQuery(period=cases.hours(-12, 12), by=by, **more)
        found = fetch(self.store, lambda tx: tx.usage.report(query))
        return [
            (
                row.project_id or row.resource_type,
                row.resource_class,
                row.leases,
                *(each / HOUR for each in (row.booked, row.used, row.unused, row.ahead)),
            )
            for row in found
        ]

    def end(self, lease: Lease, **facts: Any) -> None:
        """Release what a lease has."""

        def write(tx: Any) -> None:
            tx.allocations.release([lease.reservations[0].id])
            tx.leases.update(dataclasses.replace(lease, **facts))

        self.store.run(write)

    def test_nothing(self) -> None:
        self.assertEqual([], self.report())

    def test_what_is_held_is_used_and_the_rest_is_ahead(self) -> None:
        self.book(self.hosts, -2, 3, state=AllocationState.HELD)
        self.book(self.hosts[:1], 5, 6)
        # Outside the window.
        self.book(self.hosts, 13, 20)
        self.book(self.hosts, -20, -13, state=AllocationState.RELEASED)
        self.assertEqual([(cases.TYPE, None, 2, 11.0, 4.0, 0.0, 7.0)], self.report())

    def test_only_the_part_in_the_window_counts(self) -> None:
        self.book(self.hosts[:1], -20, 20, state=AllocationState.HELD)
        self.assertEqual([(cases.TYPE, None, 1, 24.0, 12.0, 0.0, 12.0)], self.report())

    def test_what_is_returned_early_is_unused(self) -> None:
        lease = self.book(self.hosts[:1], -2, 8, state=AllocationState.HELD)
        self.end(lease, status=LeaseStatus.DELETED, deleted_at=cases.NOW)
        self.clock.advance(6 * HOUR)
        self.assertEqual([(cases.TYPE, None, 1, 10.0, 2.0, 8.0, 0.0)], self.report())

    def test_a_failed_start_used_nothing(self) -> None:
        lease = self.book(self.hosts[:1], -2, 8)

        def fail(tx: Any) -> None:
            tx.reservations.update(
                dataclasses.replace(lease.reservations[0], status=ReservationStatus.ERROR)
            )

        self.store.run(fail)
        self.end(lease, status=LeaseStatus.ERROR)
        self.assertEqual([(cases.TYPE, None, 1, 10.0, 0.0, 10.0, 0.0)], self.report())

    def test_a_lease_cancelled_before_its_start_leaves_nothing(self) -> None:
        self.end(self.book(self.hosts, 2, 8), status=LeaseStatus.DELETED, deleted_at=cases.NOW)
        self.assertEqual([], self.report())

    def test_what_is_held_for_an_offer_is_no_lease(self) -> None:
        lease = self.book(self.hosts, 2, 8)
        self.store.run(
            lambda tx: tx.leases.update(dataclasses.replace(lease, deleted_at=cases.NOW))
        )
        self.assertEqual([], self.report())

    def test_by_project_class_and_type(self) -> None:
        lease = self.book(self.hosts[:1], 1, 2, resource_class='VCPU', amount=4)
        other = self.book(self.hosts[1:], 1, 3)
        change = usage.LEASES.update().where(usage.LEASES.c.id == other.id)
        self.store.run(lambda tx: tx.session.execute(change.values(project_id='another')))
        vcpus = (None, 'VCPU', 1, 4.0, 0.0, 0.0, 4.0)
        whole = (None, None, 1, 2.0, 0.0, 0.0, 2.0)
        self.assertEqual([whole, vcpus], self.report(UsageKey.CLASS))
        found = set(self.report(UsageKey.PROJECT))
        self.assertEqual({(lease.project_id, *vcpus[1:]), ('another', *whole[1:])}, found)
        actual = self.report(UsageKey.PROJECT, project_id='another')
        self.assertEqual([('another', *whole[1:])], actual)
        self.assertEqual([], self.report(resource_type='network'))

    def test_a_report_is_bounded(self) -> None:
        self.book(self.hosts[:1], 1, 2)
        self.useFixture(MonkeyPatch('climate.db.reports.usage.MOST_ROWS', 0))
        self.assertRaises(exceptions.InvalidInput, self.report)
