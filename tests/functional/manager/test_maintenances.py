# SPDX-License-Identifier: Apache-2.0

"""Maintenances: what is reserved in them moves, and what cannot is reported."""

from __future__ import annotations

import datetime
from typing import Any

from climate import exceptions
from climate.domain.health import HealActive
from climate.domain.leases import Lease
from climate.domain.maintenances import Maintenance
from climate.domain.maintenances import MaintenanceDraft
from climate.domain.periods import Period
from climate.upkeep.maintenances import Maintenances
from tests import drafts
from tests import services
from tests.functional import bodies
from tests.functional.manager import harness
from tests.functional.manager import healing


@services.on_each_engine(prefix='TestMaintenances', engines=services.DATABASE_SERVERS)
class TestMaintenances(healing.HealingCase):
    """An operator who takes hosts out for a while."""

    def setUp(self) -> None:
        super().setUp()
        self.woken = 0

    def wake(self) -> None:
        self.woken += 1

    @property
    def desk(self) -> Maintenances:
        return Maintenances(self.site.store, self.wake)

    def announce(self, host: str, start: float, end: float) -> Maintenance:
        draft = MaintenanceDraft(
            resource_type='physical:host',
            resource_name=host,
            period=Period(start=harness.at(start), end=harness.at(end)),
            reason='a new fan',
        )
        return self.desk.create(harness.CALLER, draft)

    def test_announce_list_cancel(self) -> None:
        later = self.announce('compute-2', 7200, 9000)
        sooner = self.announce('compute-1', 3600, 7200)
        self.assertEqual([sooner, later], self.desk.list())
        self.assertEqual(sooner, self.desk.get(sooner.id))
        self.assert_has(sooner, resource_name='compute-1', resource_type='physical:host')
        self.assert_has(sooner, reason='a new fan', user_id='alice')
        by_id = MaintenanceDraft(
            resource_id=sooner.resource_id,
            period=Period(start=harness.at(9000), end=harness.at(9900)),
        )
        self.assertEqual('compute-1', self.desk.create(harness.CALLER, by_id).resource_name)
        self.desk.delete(later.id)
        self.assertRaises(exceptions.NotFound, self.desk.get, later.id)
        self.assertRaises(exceptions.NotFound, self.desk.delete, later.id)
        self.assertEqual(4, self.woken)
        self.site.away_until(7200)
        self.assertEqual([9000], [self.seconds(one) for one in self.desk.list()])

    def seconds(self, maintenance: Maintenance) -> int:
        return int((maintenance.period.start - harness.NOW).total_seconds())

    def test_refusals(self) -> None:
        self.assertRaises(exceptions.NotFound, self.announce, 'nowhere', 3600, 7200)
        self.site.away_until(7200)
        self.assertRaises(exceptions.InvalidInput, self.announce, 'compute-1', 3600, 7200)

    def test_new_bookings_avoid_it(self) -> None:
        self.announce('compute-1', 3600, 7200)
        for start, end in ((3000, 3700), (4000, 5000), (7100, 9000), (0, 10000)):
            lease = self.site.create(start, end, hosts=3)
            self.assertNotIn('compute-1', self.names(lease))
            self.site.delete(lease)
        self.assertEqual(4, len(self.names(self.site.create(7200, 9000, hosts=4))))
        self.assertEqual(4, len(self.names(self.site.create(3000, 3600, hosts=4))))

    def test_what_has_not_begun_moves_at_once(self) -> None:
        far = self.site.create(900000, 903600)
        (had,) = self.names(far)
        before = self.site.create(890000, 900000, hosts=4)
        self.announce(had, 901000, 910000)
        self.assertEqual(1, self.heal())
        self.assertNotEqual([had], self.names(far))
        self.assertEqual(4, len(self.names(before)))
        self.assertEqual(
            f'{had} is in maintenance from 2030-01-11 22:16 UTC to 2030-01-12 00:46 UTC: a new fan',
            self.site.bus.last('lease.rehomed')['reason'],
        )

    def test_its_owner_is_notified_and_a_cancelled_one_is_forgotten(self) -> None:
        lease = self.site.create(3600, 7200, hosts=4)
        window = self.announce('compute-3', 7000, 9000)
        self.heal()
        self.assertEqual((True, True, False), self.flags(lease))
        self.assertIn('compute-3 is in maint', self.site.bus.last('lease.degraded')['reason'])
        self.assertEqual(0, self.heal())
        self.desk.delete(window.id)
        self.assertEqual(1, self.heal())
        self.assertEqual((False, False, False), self.flags(lease))
        self.assertEqual(['degraded'], self.notified(lease))

    def flexible(self, hosts: int, until: float, **facts: Any) -> Lease:
        """Book hosts for an hour, from an hour from now on."""
        start, end = harness.at(7200), harness.at(10800)
        draft = drafts.lease(
            start, end, bodies.hosts(hosts), earliest=start, latest=harness.at(until),
            strict=True, **facts,
        )  # fmt: skip
        return self.site.leases.create(harness.CALLER, draft)

    def start(self, lease: Lease) -> float:
        return (self.site.now(lease).period.start - harness.NOW).total_seconds()

    def test_flexible_leases_move_to_another_time(self) -> None:
        lease = self.flexible(4, 90000)
        self.announce('compute-2', 8000, 9000)
        self.announce('compute-3', 8000, 12000)
        self.heal()
        self.assertEqual(12000, self.start(lease))
        self.assertEqual(4, len(self.names(lease)))
        self.assertEqual((False, False, False), self.flags(lease))
        self.assertEqual(0, self.heal())
        moved = self.site.bus.last('lease.moved')
        self.assertRegex(moved['reason'], 'moved back .* because compute-[23] is in maintenance')

    def test_those_that_are_firm_or_have_no_other_time_stay(self) -> None:
        firm = self.flexible(2, 90000, firm_before=datetime.timedelta(days=1))
        tight = self.flexible(2, 11000)
        for host in self.names(firm) + self.names(tight):
            self.announce(host, 8000, 9000)
        self.heal()
        self.assertEqual([7200.0] * 2, [self.start(one) for one in (firm, tight)])
        self.assertEqual([(True, True, False)] * 2, [self.flags(one) for one in (firm, tight)])

    def active(self) -> Lease:
        lease = self.site.create(0, 90000)
        self.site.work()
        return lease

    def test_what_is_in_use_moves_when_the_time_comes(self) -> None:
        lease = self.active()
        (had,) = self.names(lease)
        self.announce(had, 10000, 20000)
        self.heal()
        self.assertEqual([had], self.names(lease))
        self.assertEqual((True, True, False), self.flags(lease))
        self.assertIn('when the time comes', self.site.bus.last('lease.degraded')['reason'])
        self.site.until(3000)
        self.heal()
        self.assertNotEqual([had], self.names(lease))
        self.assertEqual((False, False, True), self.flags(lease))
        self.assertEqual(['degraded', 'rehomed'], self.notified(lease))

    def test_what_is_in_use_stays_if_it_must(self) -> None:
        self.open(heal_active=HealActive.NEVER)
        lease = self.active()
        had = self.names(lease)
        self.announce(had[0], 100, 20000)
        self.heal()
        self.assertEqual((had, (True, True, False)), (self.names(lease), self.flags(lease)))
        self.site.until(20001)
        self.heal()
        self.assertEqual((False, False, False), self.flags(lease))
