# SPDX-License-Identifier: Apache-2.0

"""The life of a lease when nothing goes wrong, on every database."""

from __future__ import annotations

import datetime

from climate import exceptions
from climate.domain.events import EventKind
from climate.domain.leases import AllocationState
from climate.domain.lifecycles import EventState
from climate.domain.requests import EventDraft
from tests import base
from tests import services
from tests.functional.manager import harness
from tests.functional.manager.harness import at
from tests.functional.manager.harness import Site
from tests.functional.manager.harness import SiteCase

ALL = {'compute-1', 'compute-2', 'compute-3', 'compute-4'}


@services.on_each_engine(base.TestCase, 'TestLifeOn')
class _Life:
    """What holds on every database."""

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(Site(database=self.kind))

    def test_whole_life(self) -> None:
        site = self.site
        lease = site.create(600, 2400, hosts=2)
        self.assertEqual(['create'], self.received_by(0))
        self.assertEqual(['before_start_lease'], self.received_by(300))
        self.assertEqual(300, site.bus.last('lease.event.before_start_lease')['seconds_to_start'])
        self.assertEqual(['before_start_lease'], self.received_by(540))
        self.assertEqual(60, site.bus.last('lease.event.before_start_lease')['seconds_to_start'])
        self.assertEqual('PENDING', site.status(lease))
        # Prepared: the aggregate is there, and empty.
        self.assertIn(lease.reservations[0].id, {item.name for item in site.cloud.aggregates()})
        self.assertEqual((set(), ALL), (site.hosts(lease), site.pooled()))
        self.assertEqual(([], ['start_lease']), (self.received_by(599.999), self.received_by(600)))
        self.assertEqual(('ACTIVE', 'active'), (site.status(lease), site.reservation(lease)))
        self.assertEqual(2, len(site.hosts(lease)))
        self.assertEqual(ALL, site.hosts(lease) | site.pooled())
        self.assertEqual(
            ([], ['before_end_lease']), (self.received_by(1700), self.received_by(1800))
        )
        site.boot(lease)
        self.assertEqual([], self.received_by(2399.999))
        # Servers are given a moment to go.
        self.assertEqual(['end_lease'], self.received_by(2402))
        self.assertEqual(('TERMINATED', 'deleted'), (site.status(lease), site.reservation(lease)))
        self.assertEqual((ALL, ()), (site.pooled(), site.cloud.servers()))
        self.assertIsNone(site.now(lease).next_due)
        self.assertEqual({EventState.DONE}, {item.state for item in site.now(lease).events})
        for message in site.bus.taken[:-1]:
            self.assertEqual(0, message.payload.get('late_by_seconds', 0), message.event_type)
        self.assertEqual(([], []), (harness.twice(site.bus.taken), site.allocations(lease)))

    def received_by(self, seconds: float) -> list[str]:
        """Let time pass, and return the notifications sent meanwhile."""
        before = len(self.site.bus.taken)
        self.site.until(seconds)
        return self.site.bus.received()[before:]

    def test_deleting(self) -> None:
        for seconds, status, by_itself in (
            (0, 'PENDING', True),
            (560, 'PENDING', False),
            (700, 'ACTIVE', False),
            (9000, 'TERMINATED', True),
        ):
            start = (self.site.clock.now() - harness.NOW).total_seconds()
            lease = self.site.create(start + 600, start + 2400)
            self.assertEqual(status, self.site.status_at(start + seconds, lease))
            self.site.delete(lease)
            if not by_itself:
                self.assertEqual('DELETING', self.site.status(lease))
                self.site.delete(lease)
            self.assertEqual('gone', self.site.settled(lease))
            self.assertEqual((ALL, []), (self.site.pooled(), self.site.allocations(lease)))
            self.assertEqual(1, self.site.bus.received(lease).count('delete'))
            self.assertRaises(exceptions.NotFound, self.site.delete, lease)
            self.assertEqual(1, len(self.site.cloud.aggregates()))

    def test_grows_while_it_is_active(self) -> None:
        lease = self.site.create(0, 3600, until=10)
        server = self.site.boot(lease)
        self.site.update(lease, hosts=3)
        self.assertEqual('UPDATING', self.site.status(lease))
        self.assertRaises(exceptions.InvalidState, self.site.update, lease, hosts=2)
        self.assertEqual('ACTIVE', self.site.settled(lease))
        self.assertEqual(3, len(self.site.hosts(lease)))
        self.assertEqual([server], [item.id for item in self.site.cloud.servers()])
        self.assertRaises(exceptions.NotEnoughResources, self.site.update, lease, hosts=5)
        self.assertRaises(exceptions.ResourcesInUse, self.site.update, lease, hosts=1)
        self.assertEqual(3, len(self.site.hosts(lease)))
        self.site.until(3602)
        self.assertEqual(('TERMINATED', ALL), (self.site.status(lease), self.site.pooled()))

    def test_one_host_is_handed_over(self) -> None:
        site = self.site
        first = site.create(0, 1000, hosts=4)
        second = site.create(1000, 2000, hosts=4, until=500)
        site.cloud.set_server_deletion_seconds(100)
        site.boot(first)
        site.until(1050)
        self.assertEqual(('TERMINATING', 'PENDING'), (site.status(first), site.status(second)))
        # No thread waits: both are free to be looked at by anybody.
        self.assertEqual(set(), site.manager.claims.claimed())
        self.assertEqual({AllocationState.HELD}, {item.state for item in site.allocations(first)})
        found = {item.state for item in site.allocations(second)}
        self.assertEqual({AllocationState.BOOKED}, found)
        self.assertIn('waiting', site.event(second, EventKind.START).error or '')
        site.until(1115)
        self.assertEqual(('TERMINATED', 'ACTIVE'), (site.status(first), site.status(second)))
        self.assertEqual(ALL, site.hosts(second))
        late = site.bus.last('lease.event.start_lease')['late_by_seconds']
        self.assertTrue(100 <= late <= 111, late)
        self.assertLess(site.bus.received().index('end_lease'), len(site.bus.received()) - 1)
        notified = site.bus.received(second)
        self.assertLess(notified.index('create'), notified.index('start_lease'))


class TestEvents(SiteCase):
    """The notifications, and when they are sent."""

    def test_notifications_of_users_own(self) -> None:
        kind = EventKind.NOTIFICATION
        events = tuple(EventDraft(kind=kind, time=at(time)) for time in (30, 900))
        lease = self.site.create(600, 2400, events=events, until=30)
        self.assertEqual(['create', 'notification'], self.site.bus.received(lease))
        self.site.until(1000)
        self.assertEqual('notification', self.site.bus.received(lease)[-1])

    def test_several_due_at_once_are_reported_in_order(self) -> None:
        lease = self.site.create(
            600, 1200, events=(EventDraft(kind=EventKind.NOTIFICATION, time=at(600)),)
        )
        self.site.away_until(1199)
        self.site.work()
        # It ends 600 s after its start, so the warning is due with the start.
        notified = ['create', *['before_start_lease'] * 2, 'notification', 'start_lease']
        self.assertEqual([*notified, 'before_end_lease'], self.site.bus.received(lease))

    def test_a_short_lease_is_warned_although_its_start_takes_a_while(self) -> None:
        lease = self.site.create(0, 600, action='snapshot')
        self.site.cloud.reachable = False
        self.site.until(30)
        self.assertEqual(['create'], self.site.bus.received(lease))
        self.site.cloud.reachable = True
        self.site.until(100)
        self.assertEqual(
            ['create', 'start_lease', 'before_end_lease'], self.site.bus.received(lease)
        )

    def test_late_events_say_how_late(self) -> None:
        lease = self.site.create(600, 2400)
        self.site.away_until(700)
        self.assertEqual('ACTIVE', self.site.settled(lease))
        late = {
            (item.event_type, item.payload.get('late_by_seconds')) for item in self.site.bus.taken
        }
        self.assertIn(('lease.event.start_lease', 100), late)
        self.assertIn(('lease.event.before_start_lease', 400), late)
        self.assertIn(('lease.event.before_start_lease', 160), late)
        found = self.site.bus.last('lease.event.before_start_lease')['seconds_to_start']
        self.assertEqual(0, found)

    def test_a_period_that_passed_unseen(self) -> None:
        lease = self.site.create(600, 2400)
        self.site.away_until(3000)
        self.assertEqual('TERMINATED', self.site.settled(lease))
        self.assertEqual(EventState.ERROR, self.site.event(lease, EventKind.START).state)
        self.assertEqual(['error', 'end_lease'], self.site.bus.received(lease)[-2:])
        self.assertNotIn('start_lease', self.site.bus.received(lease))
        self.assertEqual(600, self.site.bus.last('lease.event.end_lease')['late_by_seconds'])
        self.assertEqual((ALL, 0), (self.site.pooled(), self.site.cloud.calls('compute.x')))

    def test_an_empty_lease_lives_as_well(self) -> None:
        lease = self.site.create(600, 2400, hosts=0)
        self.assertEqual('ACTIVE', self.site.status_at(600, lease))
        self.assertEqual('TERMINATED', self.site.status_at(2400, lease))

    def test_prolong_reduce_defer_advance(self) -> None:
        site = self.site
        lease = site.create(600, 2400)
        site.update(lease, start=900, end=3000)
        self.assertEqual(
            [at(600), at(840)],
            [item.due for item in site.now(lease).events if item.kind is EventKind.BEFORE_START],
        )
        for kind, seconds in (
            (EventKind.START, 900),
            (EventKind.END, 3000),
            (EventKind.PREPARE, 840),
            (EventKind.BEFORE_END, 2400),
        ):
            self.assertEqual(at(seconds), site.event(lease, kind).due, kind)
        site.update(lease, start=120)
        self.assertEqual(
            [at(60)],
            [item.due for item in site.now(lease).events if item.kind is EventKind.BEFORE_START],
        )
        self.assertEqual('ACTIVE', site.status_at(120, lease))
        self.assertRaises(exceptions.InvalidInput, site.update, lease, start=500)
        site.update(lease, end=1200)
        self.assertEqual(at(600), site.event(lease, EventKind.BEFORE_END).due)
        site.until(700)
        site.update(lease, end=2000)
        self.assertEqual(at(1400), site.event(lease, EventKind.BEFORE_END).due)
        site.until(1999)
        self.assertEqual(2, site.bus.received(lease).count('before_end_lease'))
        self.assertEqual('ACTIVE', site.status(lease))
        site.update(lease, end=1999)
        self.assertEqual('TERMINATED', site.settled(lease))
        self.assertEqual(at(1999), site.now(lease).period.end)

    def test_a_defer_takes_effect_although_it_was_prepared(self) -> None:
        lease = self.site.create(100, 2400, until=60)
        self.site.update(lease, start=1000)
        self.assertEqual('PENDING', self.site.status_at(999, lease))
        self.site.until(1000)
        self.assertEqual(('ACTIVE', 1), (self.site.status(lease), len(self.site.hosts(lease))))

    def test_images_before_an_end_that_is_late(self) -> None:
        site = self.site
        lease = site.create(0, 2400, hosts=2, action='snapshot', until=10)
        for host in site.hosts(lease):
            site.cloud.boot_server(host, harness.PROJECT, f'on-{host}')
        site.away_until(5000)
        site.until(5002)
        self.assertEqual((2, 'TERMINATED'), (len(site.cloud.images()), site.status(lease)))
        self.assertEqual(1, site.bus.received(lease).count('before_end_lease'))

    def test_drift_is_repaired(self) -> None:
        lease = self.site.create(0, 3600, until=10)
        (host,) = self.site.hosts(lease)
        aggregate = next(item for item in self.site.cloud.aggregates() if host in item.hosts)
        self.site.cloud.compute.remove_host(aggregate.id, host)
        self.assertEqual([], self.site.places()[host])
        self.site.until(910)
        self.assertEqual({host}, self.site.hosts(lease))
        self.assertFalse(self.site.now(lease).degraded)
        self.assertNotIn('degraded', self.site.bus.received())

    def test_degraded_and_well_again(self) -> None:
        lease = self.site.create(0, 7000, until=899)
        self.site.cloud.fail('compute.find_aggregate', times=None, error='permanent')
        self.site.until(3000)
        self.assertTrue(self.site.now(lease).degraded)
        self.assertEqual('ACTIVE', self.site.status(lease))
        self.assertEqual(1, self.site.bus.received().count('degraded'))
        self.site.cloud.heal()
        self.site.until(4000)
        self.assertFalse(self.site.now(lease).degraded)
        self.site.cloud.reachable = False
        self.site.until(6000)
        self.assertTrue(self.site.now(lease).degraded)


class TestCleaningTime(base.TestCase):
    """Between two leases of a host there is time to clean it."""

    def setUp(self) -> None:
        super().setUp()
        pause = datetime.timedelta(seconds=300)
        self.site = self.useFixture(Site(harness.changed(cleaning_time=pause), hosts=1))

    def test_booked_ahead(self) -> None:
        site = self.site
        first = site.create(0, 1000)
        self.assertRaises(exceptions.NotEnoughResources, site.create, 1299, 2000)
        second = site.create(1300, 2000)
        self.assertRaises(exceptions.NotEnoughResources, site.update, first, end=1001)
        site.until(1300)
        self.assertEqual(('TERMINATED', 'ACTIVE'), (site.status(first), site.status(second)))

    def test_after_an_end(self) -> None:
        first = self.site.create(0, 1000, until=500)
        self.site.update(first, end=500)
        self.assertEqual('TERMINATED', self.site.status_at(600, first))
        error = self.assertRaises(exceptions.NotEnoughResources, self.site.create, 700, 2000)
        self.assertEqual((1, 0, at(500)), (error.matched, error.free, error.first_blocker_ends))
        self.assertEqual('ACTIVE', self.site.status_at(800, self.site.create(800, 2000)))

    def test_after_a_deletion(self) -> None:
        self.site.delete(self.site.create(0, 1000, until=100))
        self.site.until(200)
        self.assertRaises(exceptions.NotEnoughResources, self.site.create, 399, 2000)
        self.site.create(400, 2000)
