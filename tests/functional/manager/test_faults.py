# SPDX-License-Identifier: Apache-2.0

"""What becomes of leases when the cloud does not do as it should.

What is told, how often it is tried, and what else happens meanwhile; that each
call may fail is shown by the walk.
"""

from __future__ import annotations

import itertools

from oslo_config import cfg

from climate import conf as climate_conf
from climate.domain.events import EventKind
from climate.domain.leases import AllocationState
from climate.domain.lifecycles import EventState
from climate.leases.settings import LeasingSettings
from tests.functional.manager import harness
from tests.functional.manager.harness import Office
from tests.functional.manager.harness import OfficeCase

ALL = {'compute-1', 'compute-2', 'compute-3', 'compute-4'}


class TestStart(OfficeCase):
    """The cloud fails when a lease starts."""

    def test_tried_with_growing_pauses_and_then_undone(self) -> None:
        office = self.office
        office.cloud.keep_journal()
        lease = office.create(100, 3600, until=99)
        office.cloud.reachable = False
        self.assertEqual('STARTING', office.status_at(219, lease))
        self.assertNotIn('error', office.bus.received())
        tries = [(call.at - harness.NOW).total_seconds() for call in office.cloud.journal()]
        tries = [second for second in tries if second >= 100]
        pauses = [round(b - a) for a, b in itertools.pairwise(tries)]
        self.assertEqual([1, 2, 4, 8, 16, 30, 30], pauses)
        office.until(300)
        self.assertEqual(('ERROR', 'error'), (office.status(lease), office.reservation(lease)))
        self.assertEqual(EventState.ERROR, office.event(lease, EventKind.START).state)
        told = office.bus.last('lease.event.error')
        self.assertEqual('start_lease', told['event_type'])
        self.assertIn('cannot be reached', told['reason'])
        self.assertEqual('ERROR', told['status'])
        # What was begun is undone for as long as it takes.
        office.until(2000)
        self.assertEqual(EventState.UNDONE, office.event(lease, EventKind.UNDO).state)
        self.assertEqual({AllocationState.HELD}, {item.state for item in office.allocations(lease)})
        office.cloud.reachable = True
        office.until(2100)
        self.assertEqual(EventState.DONE, office.event(lease, EventKind.UNDO).state)
        self.assertEqual((ALL, []), (office.pooled(), office.allocations(lease)))
        self.assertEqual('ERROR', office.status(lease))
        office.delete(lease)
        self.assertEqual('gone', office.settled(lease))

    def test_back_in_time(self) -> None:
        lease = self.office.create(100, 3600)
        self.office.cloud.reachable = False
        self.office.until(150)
        self.office.cloud.reachable = True
        self.assertEqual('ACTIVE', self.office.status_at(200, lease))
        self.assertNotIn('error', self.office.bus.received())
        self.assertEqual(1, self.office.bus.received().count('start_lease'))

    def test_nova_is_back(self) -> None:
        """However long it was away, what waits for it goes on soon, by default."""
        conf = cfg.ConfigOpts()
        climate_conf.register_opts(conf)
        conf([])
        office = self.useFixture(Office(LeasingSettings.from_conf(conf), hosts=6))
        for outage in (20, 64, 130):
            start = office.seconds() + 100
            ending = office.create(start - 50, start + 5)
            starting = office.create(start, start + 600, until=start - 1)
            office.cloud.reachable = False
            office.until(start + outage)
            statuses = (office.status(ending), office.status(starting))
            self.assertEqual(('TERMINATING', 'STARTING'), statuses)
            office.cloud.reachable = True
            office.until(start + outage + 10)
            statuses = (office.status(ending), office.status(starting))
            self.assertEqual(('TERMINATED', 'ACTIVE'), statuses, outage)

    def test_half_a_start_is_undone(self) -> None:
        lease = self.office.create(100, 3600, hosts=3, until=99)
        self.office.cloud.fail('compute.remove_host', times=None)
        self.office.until(219)
        self.assertEqual(1, len(self.office.hosts(lease)))
        self.assertEqual('ERROR', self.office.status_at(260, lease))
        self.office.cloud.heal()
        self.office.until(400)
        self.assertEqual(ALL, self.office.pooled())
        other = self.office.create(400, 3600, hosts=4)
        self.assertEqual('ACTIVE', self.office.status_at(410, other))

    def test_permanent_error_is_not_tried_again(self) -> None:
        lease = self.office.create(100, 3600, until=99)
        self.office.cloud.fail('compute.add_host', error='permanent')
        self.assertEqual('ERROR', self.office.status_at(100, lease))
        self.assertEqual(['create', 'before_start_lease', 'error'], self.office.bus.received())
        self.assertEqual((ALL, []), (self.office.pooled(), self.office.allocations(lease)))

    def test_failed_preparation_does_no_harm(self) -> None:
        lease = self.office.create(100, 3600)
        self.office.cloud.fail('compute.create_aggregate', error='permanent')
        self.office.until(60)
        self.assertEqual(EventState.ERROR, self.office.event(lease, EventKind.PREPARE).state)
        self.assertEqual('ACTIVE', self.office.status_at(100, lease))
        # It is told, and all the same it is well.
        told = self.office.bus.last('lease.event.error')
        self.assertEqual(('prepare', 'PENDING'), (told['event_type'], told['status']))
        self.assertEqual(1, self.office.bus.received().count('error'))

    def test_the_end_comes_while_the_start_is_still_tried(self) -> None:
        lease = self.office.create(100, 150)
        self.office.cloud.reachable = False
        self.assertEqual('TERMINATING', self.office.status_at(170, lease))
        self.office.cloud.reachable = True
        self.office.until(300)
        self.assertEqual(
            ('TERMINATED', 'deleted'), (self.office.status(lease), self.office.reservation(lease))
        )
        self.assertEqual(ALL, self.office.pooled())
        states = {item.kind: item.state for item in self.office.now(lease).events}
        # What was never started is not said to be: its owner hears of it.
        self.assertEqual(EventState.ERROR, states.pop(EventKind.START))
        self.assertEqual({EventState.DONE}, set(states.values()))
        self.assertIn('error', self.office.bus.received())

    def test_a_failed_lease_ends_too(self) -> None:
        lease = self.office.create(100, 1000, until=99)
        self.office.cloud.fail('compute.*', error='permanent')
        self.assertEqual('TERMINATED', self.office.status_at(1000, lease))
        self.assertEqual('end_lease', self.office.bus.received()[-1])

    def test_deleting_while_the_start_is_tried(self) -> None:
        lease = self.office.create(100, 3600)
        self.office.cloud.reachable = False
        self.assertEqual('STARTING', self.office.status_at(110, lease))
        self.office.delete(lease)
        self.assertEqual('DELETING', self.office.status(lease))
        self.office.until(1000)
        # It cannot be said to be gone before the cloud lets it go.
        self.assertEqual('ERROR', self.office.status(lease))
        self.assertEqual(1, self.office.bus.received().count('error'))
        self.assertNotIn('delete', self.office.bus.received())
        self.office.cloud.reachable = True
        self.office.until(1100)
        self.assertEqual(('gone', ALL), (self.office.status(lease), self.office.pooled()))
        self.assertEqual('delete', self.office.bus.received()[-1])
        self.assertNotIn('start_lease', self.office.bus.received())

    def test_deleting_a_failed_lease_before_it_is_undone(self) -> None:
        lease = self.office.create(100, 3600)
        self.office.cloud.reachable = False
        self.assertEqual('ERROR', self.office.status_at(500, lease))
        self.office.delete(lease)
        self.office.until(600)
        self.office.delete(lease)
        self.office.cloud.heal()
        self.office.until(700)
        self.assertEqual(('gone', ALL), (self.office.status(lease), self.office.pooled()))
        self.assertEqual(1, self.office.bus.received().count('delete'))


class TestEnd(OfficeCase):
    """The cloud fails when a lease ends."""

    def test_never_given_up_and_told_once(self) -> None:
        lease = self.office.create(0, 1000, until=999)
        server = self.office.boot(lease)
        self.office.cloud.reachable = False
        self.assertEqual('TERMINATING', self.office.status_at(1100, lease))
        self.assertEqual('ERROR', self.office.status_at(9000, lease))
        self.assertEqual(1, self.office.bus.received().count('error'))
        self.assertEqual([server], [item.id for item in self.office.cloud.servers()])
        self.assertEqual(1, len(self.office.allocations(lease)))
        self.office.cloud.reachable = True
        self.office.until(9100)
        self.assertEqual(
            ('TERMINATED', 'deleted'), (self.office.status(lease), self.office.reservation(lease))
        )
        self.assertEqual('end_lease', self.office.bus.received()[-1])
        self.assertEqual((ALL, ()), (self.office.pooled(), self.office.cloud.servers()))

    def test_permanent_error_at_the_end_is_told_and_tried_again(self) -> None:
        lease = self.office.create(0, 1000, until=999)
        self.office.boot(lease)
        self.office.cloud.fail('compute.delete_server', times=3, error='permanent')
        self.assertEqual('ERROR', self.office.status_at(1001, lease))
        self.assertEqual('TERMINATED', self.office.status_at(1100, lease))
        self.assertEqual(1, self.office.bus.received().count('error'))

    def test_deleting_a_lease_whose_end_fails(self) -> None:
        lease = self.office.create(0, 1000, until=999)
        self.office.cloud.reachable = False
        self.office.until(1010)
        self.office.delete(lease)
        self.office.until(1020)
        self.office.cloud.reachable = True
        self.office.until(1100)
        self.assertEqual(('gone', ALL), (self.office.status(lease), self.office.pooled()))

    def test_failed_images_are_told_and_do_not_keep_it_from_ending(self) -> None:
        lease = self.office.create(0, 1000, action='snapshot', until=10)
        self.office.boot(lease)
        self.office.cloud.fail('compute.create_image', times=None, error='conflict')
        self.office.until(900)
        self.assertEqual(EventState.ERROR, self.office.event(lease, EventKind.BEFORE_END).state)
        self.assertEqual(1, self.office.bus.received().count('error'))
        self.assertEqual(1, self.office.bus.received().count('before_end_lease'))
        self.assertEqual('TERMINATED', self.office.status_at(1002, lease))

    def test_two_ends_do_not_stand_in_each_others_way(self) -> None:
        first, second = self.office.create(0, 1000), self.office.create(0, 1000)
        self.office.until(999)
        (host,) = self.office.hosts(first)
        self.office.boot(first)
        self.office.cloud.fail('compute.delete_server', times=None)
        self.assertEqual('TERMINATING', self.office.status_at(1010, first))
        self.assertEqual('TERMINATED', self.office.status(second))
        self.assertEqual(ALL - {host}, self.office.pooled())


class TestUpdate(OfficeCase):
    """The cloud fails when an active lease grows."""

    def test_fails_for_good(self) -> None:
        lease = self.office.create(0, 3600, until=10)
        had = self.office.hosts(lease)
        self.office.cloud.fail('compute.remove_host', times=None)
        self.office.update(lease, hosts=3)
        self.assertEqual('UPDATING', self.office.status_at(20, lease))
        self.assertEqual(2, len(self.office.hosts(lease)))
        self.office.until(140)
        self.office.cloud.heal()
        self.assertEqual('ACTIVE', self.office.status_at(200, lease))
        self.assertEqual(1, self.office.now(lease).reservations[0].request['max'])
        self.assertEqual((had, ALL - had), (self.office.hosts(lease), self.office.pooled()))
        self.assertEqual(1, len(self.office.allocations(lease)))
        self.assertEqual(EventState.ERROR, self.office.event(lease, EventKind.UPDATE).state)
        self.assertEqual('update_lease', self.office.bus.last('lease.event.error')['event_type'])
        self.assertEqual('active', self.office.reservation(lease))
        # Everybody else can have what was given back, now.
        other = self.office.create(200, 3600, hosts=3)
        self.assertEqual('ACTIVE', self.office.status_at(210, other))

    def test_the_end_comes_while_it_is_undone(self) -> None:
        lease = self.office.create(0, 1000, until=990)
        self.office.cloud.reachable = False
        self.office.update(lease, hosts=3)
        self.office.until(1200)
        self.office.cloud.reachable = True
        self.office.until(1300)
        self.assertEqual(('TERMINATED', ALL), (self.office.status(lease), self.office.pooled()))
        self.assertEqual([], self.office.allocations(lease))

    def test_grows_onto_a_host_that_is_not_handed_over_yet(self) -> None:
        lease = self.office.create(0, 5000)
        others = self.office.create(0, 1000, hosts=3, until=999)
        self.office.cloud.set_server_deletion_seconds(60)
        self.office.boot(others)
        self.office.until(1001)
        self.office.update(lease, hosts=4)
        self.assertEqual('UPDATING', self.office.status_at(1050, lease))
        self.assertEqual(1, len(self.office.hosts(lease)))
        self.office.until(1070)
        self.assertEqual(('ACTIVE', ALL), (self.office.status(lease), self.office.hosts(lease)))

    def test_deleting_while_it_grows(self) -> None:
        lease = self.office.create(0, 1000, until=100)
        self.office.cloud.reachable = False
        self.office.update(lease, hosts=3)
        self.office.until(110)
        self.office.delete(lease)
        self.office.cloud.reachable = True
        self.office.until(200)
        self.assertEqual(('gone', ALL), (self.office.status(lease), self.office.pooled()))


class TestDefect(OfficeCase):
    """A plugin that raises what it must not takes no manager with it."""

    def test_is_tried_again_and_told(self) -> None:
        lease = self.office.create(100, 3600)
        plugin = self.office.plugins['physical:host']

        def explode(work: object, cloud: object) -> None:
            raise ZeroDivisionError

        plugin.start = explode
        self.assertEqual('ERROR', self.office.status_at(400, lease))
        self.assertIn('ZeroDivisionError', self.office.bus.last('lease.event.error')['reason'])

    def test_a_type_that_is_not_served_any_more(self) -> None:
        lease = self.office.create(100, 3600)
        plugin = self.office.plugins.pop('physical:host')
        self.assertEqual('STARTING', self.office.status_at(130, lease))
        self.office.plugins['physical:host'] = plugin
        self.assertEqual('ACTIVE', self.office.status_at(200, lease))
