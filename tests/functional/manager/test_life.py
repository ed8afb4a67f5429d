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
from tests.functional.manager.harness import Office
from tests.functional.manager.harness import OfficeCase

ALL = {'compute-1', 'compute-2', 'compute-3', 'compute-4'}


@services.on_each_engine(base.TestCase, 'TestLifeOn')
class _Life:
    """What holds on every database."""

    def setUp(self) -> None:
        super().setUp()
        self.office = self.useFixture(Office(database=self.kind))

    def test_whole_life(self) -> None:
        office = self.office
        lease = office.create(600, 2400, hosts=2)
        self.assertEqual(['create'], self.told_by(0))
        self.assertEqual(['before_start_lease'], self.told_by(300))
        self.assertEqual(300, office.bus.last('lease.event.before_start_lease')['seconds_to_start'])
        self.assertEqual(['before_start_lease'], self.told_by(540))
        self.assertEqual(60, office.bus.last('lease.event.before_start_lease')['seconds_to_start'])
        self.assertEqual('PENDING', office.status(lease))
        # Prepared: the aggregate is there, and empty.
        self.assertIn(lease.reservations[0].id, {item.name for item in office.cloud.aggregates()})
        self.assertEqual((set(), ALL), (office.hosts(lease), office.pooled()))
        self.assertEqual(([], ['start_lease']), (self.told_by(599.999), self.told_by(600)))
        self.assertEqual(('ACTIVE', 'active'), (office.status(lease), office.reservation(lease)))
        self.assertEqual(2, len(office.hosts(lease)))
        self.assertEqual(ALL, office.hosts(lease) | office.pooled())
        self.assertEqual(([], ['before_end_lease']), (self.told_by(1700), self.told_by(1800)))
        office.boot(lease)
        self.assertEqual([], self.told_by(2399.999))
        # Servers are given a moment to go.
        self.assertEqual(['end_lease'], self.told_by(2402))
        self.assertEqual(
            ('TERMINATED', 'deleted'), (office.status(lease), office.reservation(lease))
        )
        self.assertEqual((ALL, ()), (office.pooled(), office.cloud.servers()))
        self.assertIsNone(office.now(lease).next_due)
        self.assertEqual({EventState.DONE}, {item.state for item in office.now(lease).events})
        for message in office.bus.taken[:-1]:
            self.assertEqual(0, message.payload.get('late_by_seconds', 0), message.event_type)
        self.assertEqual(([], []), (harness.twice(office.bus.taken), office.allocations(lease)))

    def told_by(self, seconds: float) -> list[str]:
        """Let time pass, and return what was told meanwhile."""
        before = len(self.office.bus.taken)
        self.office.until(seconds)
        return self.office.bus.received()[before:]

    def test_deleting(self) -> None:
        for seconds, status, by_itself in (
            (0, 'PENDING', True),
            (560, 'PENDING', False),
            (700, 'ACTIVE', False),
            (9000, 'TERMINATED', True),
        ):
            start = (self.office.clock.now() - harness.NOW).total_seconds()
            lease = self.office.create(start + 600, start + 2400)
            self.assertEqual(status, self.office.status_at(start + seconds, lease))
            self.office.delete(lease)
            if not by_itself:
                self.assertEqual('DELETING', self.office.status(lease))
                self.office.delete(lease)
            self.assertEqual('gone', self.office.settled(lease))
            self.assertEqual((ALL, []), (self.office.pooled(), self.office.allocations(lease)))
            self.assertEqual(1, self.office.bus.received(lease).count('delete'))
            self.assertRaises(exceptions.NotFound, self.office.delete, lease)
            self.assertEqual(1, len(self.office.cloud.aggregates()))

    def test_grows_while_it_is_active(self) -> None:
        lease = self.office.create(0, 3600, until=10)
        server = self.office.boot(lease)
        self.office.update(lease, hosts=3)
        self.assertEqual('UPDATING', self.office.status(lease))
        self.assertRaises(exceptions.InvalidState, self.office.update, lease, hosts=2)
        self.assertEqual('ACTIVE', self.office.settled(lease))
        self.assertEqual(3, len(self.office.hosts(lease)))
        self.assertEqual([server], [item.id for item in self.office.cloud.servers()])
        self.assertRaises(exceptions.NotEnoughResources, self.office.update, lease, hosts=5)
        self.assertRaises(exceptions.ResourcesInUse, self.office.update, lease, hosts=1)
        self.assertEqual(3, len(self.office.hosts(lease)))
        self.office.until(3602)
        self.assertEqual(('TERMINATED', ALL), (self.office.status(lease), self.office.pooled()))

    def test_one_host_is_handed_over(self) -> None:
        office = self.office
        first = office.create(0, 1000, hosts=4)
        second = office.create(1000, 2000, hosts=4, until=500)
        office.cloud.set_server_deletion_seconds(100)
        office.boot(first)
        office.until(1050)
        self.assertEqual(('TERMINATING', 'PENDING'), (office.status(first), office.status(second)))
        # No thread waits: both are free to be looked at by anybody.
        self.assertEqual(set(), office.manager.claims.claimed())
        self.assertEqual({AllocationState.HELD}, {item.state for item in office.allocations(first)})
        found = {item.state for item in office.allocations(second)}
        self.assertEqual({AllocationState.BOOKED}, found)
        self.assertIn('waiting', office.event(second, EventKind.START).error or '')
        office.until(1115)
        self.assertEqual(('TERMINATED', 'ACTIVE'), (office.status(first), office.status(second)))
        self.assertEqual(ALL, office.hosts(second))
        late = office.bus.last('lease.event.start_lease')['late_by_seconds']
        self.assertTrue(100 <= late <= 111, late)
        self.assertLess(office.bus.received().index('end_lease'), len(office.bus.received()) - 1)
        told = office.bus.received(second)
        self.assertLess(told.index('create'), told.index('start_lease'))


class TestEvents(OfficeCase):
    """What is told, and when."""

    def test_notifications_of_users_own(self) -> None:
        kind = EventKind.NOTIFICATION
        events = tuple(EventDraft(kind=kind, time=at(time)) for time in (30, 900))
        lease = self.office.create(600, 2400, events=events, until=30)
        self.assertEqual(['create', 'notification'], self.office.bus.received(lease))
        self.office.until(1000)
        self.assertEqual('notification', self.office.bus.received(lease)[-1])

    def test_several_due_at_once_are_told_in_order(self) -> None:
        lease = self.office.create(
            600, 1200, events=(EventDraft(kind=EventKind.NOTIFICATION, time=at(600)),)
        )
        self.office.away_until(1199)
        self.office.work()
        # It ends 600 s after its start, so the warning is due with the start.
        told = ['create', *['before_start_lease'] * 2, 'notification', 'start_lease']
        self.assertEqual([*told, 'before_end_lease'], self.office.bus.received(lease))

    def test_a_short_lease_is_warned_although_its_start_takes_a_while(self) -> None:
        lease = self.office.create(0, 600, action='snapshot')
        self.office.cloud.reachable = False
        self.office.until(30)
        self.assertEqual(['create'], self.office.bus.received(lease))
        self.office.cloud.reachable = True
        self.office.until(100)
        self.assertEqual(
            ['create', 'start_lease', 'before_end_lease'], self.office.bus.received(lease)
        )

    def test_late_events_say_how_late(self) -> None:
        lease = self.office.create(600, 2400)
        self.office.away_until(700)
        self.assertEqual('ACTIVE', self.office.settled(lease))
        late = {
            (item.event_type, item.payload.get('late_by_seconds')) for item in self.office.bus.taken
        }
        self.assertIn(('lease.event.start_lease', 100), late)
        self.assertIn(('lease.event.before_start_lease', 400), late)
        self.assertIn(('lease.event.before_start_lease', 160), late)
        found = self.office.bus.last('lease.event.before_start_lease')['seconds_to_start']
        self.assertEqual(0, found)

    def test_a_period_that_passed_unseen(self) -> None:
        lease = self.office.create(600, 2400)
        self.office.away_until(3000)
        self.assertEqual('TERMINATED', self.office.settled(lease))
        self.assertEqual(EventState.ERROR, self.office.event(lease, EventKind.START).state)
        self.assertEqual(['error', 'end_lease'], self.office.bus.received(lease)[-2:])
        self.assertNotIn('start_lease', self.office.bus.received(lease))
        self.assertEqual(600, self.office.bus.last('lease.event.end_lease')['late_by_seconds'])
        self.assertEqual((ALL, 0), (self.office.pooled(), self.office.cloud.calls('compute.x')))

    def test_an_empty_lease_lives_as_well(self) -> None:
        lease = self.office.create(600, 2400, hosts=0)
        self.assertEqual('ACTIVE', self.office.status_at(600, lease))
        self.assertEqual('TERMINATED', self.office.status_at(2400, lease))

    def test_prolong_reduce_defer_advance(self) -> None:
        office = self.office
        lease = office.create(600, 2400)
        office.update(lease, start=900, end=3000)
        self.assertEqual(
            [at(600), at(840)],
            [item.due for item in office.now(lease).events if item.kind is EventKind.BEFORE_START],
        )
        for kind, seconds in (
            (EventKind.START, 900),
            (EventKind.END, 3000),
            (EventKind.PREPARE, 840),
            (EventKind.BEFORE_END, 2400),
        ):
            self.assertEqual(at(seconds), office.event(lease, kind).due, kind)
        office.update(lease, start=120)
        self.assertEqual(
            [at(60)],
            [item.due for item in office.now(lease).events if item.kind is EventKind.BEFORE_START],
        )
        self.assertEqual('ACTIVE', office.status_at(120, lease))
        self.assertRaises(exceptions.InvalidInput, office.update, lease, start=500)
        office.update(lease, end=1200)
        self.assertEqual(at(600), office.event(lease, EventKind.BEFORE_END).due)
        office.until(700)
        office.update(lease, end=2000)
        self.assertEqual(at(1400), office.event(lease, EventKind.BEFORE_END).due)
        office.until(1999)
        self.assertEqual(2, office.bus.received(lease).count('before_end_lease'))
        self.assertEqual('ACTIVE', office.status(lease))
        office.update(lease, end=1999)
        self.assertEqual('TERMINATED', office.settled(lease))
        self.assertEqual(at(1999), office.now(lease).period.end)

    def test_a_defer_takes_effect_although_it_was_prepared(self) -> None:
        lease = self.office.create(100, 2400, until=60)
        self.office.update(lease, start=1000)
        self.assertEqual('PENDING', self.office.status_at(999, lease))
        self.office.until(1000)
        self.assertEqual(('ACTIVE', 1), (self.office.status(lease), len(self.office.hosts(lease))))

    def test_images_before_an_end_that_is_late(self) -> None:
        office = self.office
        lease = office.create(0, 2400, hosts=2, action='snapshot', until=10)
        for host in office.hosts(lease):
            office.cloud.boot_server(host, harness.PROJECT, f'on-{host}')
        office.away_until(5000)
        office.until(5002)
        self.assertEqual((2, 'TERMINATED'), (len(office.cloud.images()), office.status(lease)))
        self.assertEqual(1, office.bus.received(lease).count('before_end_lease'))

    def test_drift_is_repaired(self) -> None:
        lease = self.office.create(0, 3600, until=10)
        (host,) = self.office.hosts(lease)
        aggregate = next(item for item in self.office.cloud.aggregates() if host in item.hosts)
        self.office.cloud.compute.remove_host(aggregate.id, host)
        self.assertEqual([], self.office.places()[host])
        self.office.until(910)
        self.assertEqual({host}, self.office.hosts(lease))
        self.assertFalse(self.office.now(lease).degraded)
        self.assertNotIn('degraded', self.office.bus.received())

    def test_degraded_and_well_again(self) -> None:
        lease = self.office.create(0, 7000, until=899)
        self.office.cloud.fail('compute.find_aggregate', times=None, error='permanent')
        self.office.until(3000)
        self.assertTrue(self.office.now(lease).degraded)
        self.assertEqual('ACTIVE', self.office.status(lease))
        self.assertEqual(1, self.office.bus.received().count('degraded'))
        self.office.cloud.heal()
        self.office.until(4000)
        self.assertFalse(self.office.now(lease).degraded)
        self.office.cloud.reachable = False
        self.office.until(6000)
        self.assertTrue(self.office.now(lease).degraded)


class TestCleaningTime(base.TestCase):
    """Between two leases of a host there is time to clean it."""

    def setUp(self) -> None:
        super().setUp()
        pause = datetime.timedelta(seconds=300)
        self.office = self.useFixture(Office(harness.changed(cleaning_time=pause), hosts=1))

    def test_booked_ahead(self) -> None:
        office = self.office
        first = office.create(0, 1000)
        self.assertRaises(exceptions.NotEnoughResources, office.create, 1299, 2000)
        second = office.create(1300, 2000)
        self.assertRaises(exceptions.NotEnoughResources, office.update, first, end=1001)
        office.until(1300)
        self.assertEqual(('TERMINATED', 'ACTIVE'), (office.status(first), office.status(second)))

    def test_after_an_end(self) -> None:
        first = self.office.create(0, 1000, until=500)
        self.office.update(first, end=500)
        self.assertEqual('TERMINATED', self.office.status_at(600, first))
        error = self.assertRaises(exceptions.NotEnoughResources, self.office.create, 700, 2000)
        self.assertEqual((1, 0, at(500)), (error.matched, error.free, error.first_blocker_ends))
        self.assertEqual('ACTIVE', self.office.status_at(800, self.office.create(800, 2000)))

    def test_after_a_deletion(self) -> None:
        self.office.delete(self.office.create(0, 1000, until=100))
        self.office.until(200)
        self.assertRaises(exceptions.NotEnoughResources, self.office.create, 399, 2000)
        self.office.create(400, 2000)
