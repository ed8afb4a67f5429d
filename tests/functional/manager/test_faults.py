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
from tests import base
from tests.functional.manager import harness
from tests.functional.manager.harness import Office

ALL = {'compute-1', 'compute-2', 'compute-3', 'compute-4'}


class _Test(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.office = self.useFixture(Office())


class TestStart(_Test):
    """The cloud fails when a lease starts."""

    def test_tried_with_growing_pauses_and_then_undone(self) -> None:
        office = self.office
        office.cloud.keep_journal()
        lease = office.create(100, 3600)
        office.until(99)
        office.cloud.reachable = False
        office.until(219)
        self.assertEqual('STARTING', office.status(lease))
        self.assertNotIn('error', office.bus.told())
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
        office.work()
        self.assertEqual('gone', office.status(lease))

    def test_back_in_time(self) -> None:
        office = self.office
        lease = office.create(100, 3600)
        office.cloud.reachable = False
        office.until(150)
        office.cloud.reachable = True
        office.until(200)
        self.assertEqual('ACTIVE', office.status(lease))
        self.assertNotIn('error', office.bus.told())
        self.assertEqual(1, office.bus.told().count('start_lease'))

    def test_nova_is_back(self) -> None:
        """However long it was away, what waits for it goes on soon, by default."""
        conf = cfg.ConfigOpts()
        climate_conf.register_opts(conf)
        conf([])
        office = self.useFixture(Office(LeasingSettings.from_conf(conf), hosts=6))
        for outage in (20, 64, 130):
            start = office.seconds() + 100
            ending = office.create(start - 50, start + 5)
            starting = office.create(start, start + 600)
            office.until(start - 1)
            office.cloud.reachable = False
            office.until(start + outage)
            statuses = (office.status(ending), office.status(starting))
            self.assertEqual(('TERMINATING', 'STARTING'), statuses)
            office.cloud.reachable = True
            office.until(start + outage + 10)
            statuses = (office.status(ending), office.status(starting))
            self.assertEqual(('TERMINATED', 'ACTIVE'), statuses, outage)

    def test_half_a_start_is_undone(self) -> None:
        office = self.office
        lease = office.create(100, 3600, hosts=3)
        office.until(99)
        office.cloud.fail('compute.remove_host', times=None)
        office.until(219)
        self.assertEqual(1, len(office.hosts(lease)))
        office.until(260)
        self.assertEqual('ERROR', office.status(lease))
        office.cloud.heal()
        office.until(400)
        self.assertEqual(ALL, office.pooled())
        other = office.create(400, 3600, hosts=4)
        office.until(410)
        self.assertEqual('ACTIVE', office.status(other))

    def test_permanent_error_is_not_tried_again(self) -> None:
        office = self.office
        lease = office.create(100, 3600)
        office.until(99)
        office.cloud.fail('compute.add_host', error='permanent')
        office.until(100)
        self.assertEqual('ERROR', office.status(lease))
        self.assertEqual(['create', 'before_start_lease', 'error'], office.bus.told())
        self.assertEqual((ALL, []), (office.pooled(), office.allocations(lease)))

    def test_failed_preparation_does_no_harm(self) -> None:
        office = self.office
        lease = office.create(100, 3600)
        office.cloud.fail('compute.create_aggregate', error='permanent')
        office.until(60)
        self.assertEqual(EventState.ERROR, office.event(lease, EventKind.PREPARE).state)
        office.until(100)
        self.assertEqual('ACTIVE', office.status(lease))
        # It is told, and all the same it is well.
        told = office.bus.last('lease.event.error')
        self.assertEqual(('prepare', 'PENDING'), (told['event_type'], told['status']))
        self.assertEqual(1, office.bus.told().count('error'))

    def test_the_end_comes_while_the_start_is_still_tried(self) -> None:
        office = self.office
        lease = office.create(100, 150)
        office.cloud.reachable = False
        office.until(170)
        self.assertEqual('TERMINATING', office.status(lease))
        office.cloud.reachable = True
        office.until(300)
        self.assertEqual(
            ('TERMINATED', 'deleted'), (office.status(lease), office.reservation(lease))
        )
        self.assertEqual(ALL, office.pooled())
        states = {item.kind: item.state for item in office.now(lease).events}
        # What was never started is not said to be: its owner hears of it.
        self.assertEqual(EventState.ERROR, states.pop(EventKind.START))
        self.assertEqual({EventState.DONE}, set(states.values()))
        self.assertIn('error', office.bus.told())

    def test_a_failed_lease_ends_too(self) -> None:
        office = self.office
        lease = office.create(100, 1000)
        office.until(99)
        office.cloud.fail('compute.*', error='permanent')
        office.until(1000)
        self.assertEqual('TERMINATED', office.status(lease))
        self.assertEqual('end_lease', office.bus.told()[-1])

    def test_deleting_while_the_start_is_tried(self) -> None:
        office = self.office
        lease = office.create(100, 3600)
        office.cloud.reachable = False
        office.until(110)
        self.assertEqual('STARTING', office.status(lease))
        office.delete(lease)
        self.assertEqual('DELETING', office.status(lease))
        office.until(1000)
        # It cannot be said to be gone before the cloud lets it go.
        self.assertEqual('ERROR', office.status(lease))
        self.assertEqual(1, office.bus.told().count('error'))
        self.assertNotIn('delete', office.bus.told())
        office.cloud.reachable = True
        office.until(1100)
        self.assertEqual(('gone', ALL), (office.status(lease), office.pooled()))
        self.assertEqual('delete', office.bus.told()[-1])
        self.assertNotIn('start_lease', office.bus.told())

    def test_deleting_a_failed_lease_before_it_is_undone(self) -> None:
        office = self.office
        lease = office.create(100, 3600)
        office.cloud.reachable = False
        office.until(500)
        self.assertEqual('ERROR', office.status(lease))
        office.delete(lease)
        office.until(600)
        office.delete(lease)
        office.cloud.heal()
        office.until(700)
        self.assertEqual(('gone', ALL), (office.status(lease), office.pooled()))
        self.assertEqual(1, office.bus.told().count('delete'))


class TestEnd(_Test):
    """The cloud fails when a lease ends."""

    def test_never_given_up_and_told_once(self) -> None:
        office = self.office
        lease = office.create(0, 1000)
        office.until(999)
        server = office.boot(lease)
        office.cloud.reachable = False
        office.until(1100)
        self.assertEqual('TERMINATING', office.status(lease))
        office.until(9000)
        self.assertEqual('ERROR', office.status(lease))
        self.assertEqual(1, office.bus.told().count('error'))
        self.assertEqual([server], [item.id for item in office.cloud.servers()])
        self.assertEqual(1, len(office.allocations(lease)))
        office.cloud.reachable = True
        office.until(9100)
        self.assertEqual(
            ('TERMINATED', 'deleted'), (office.status(lease), office.reservation(lease))
        )
        self.assertEqual('end_lease', office.bus.told()[-1])
        self.assertEqual((ALL, ()), (office.pooled(), office.cloud.servers()))

    def test_permanent_error_at_the_end_is_told_and_tried_again(self) -> None:
        office = self.office
        lease = office.create(0, 1000)
        office.until(999)
        office.boot(lease)
        office.cloud.fail('compute.delete_server', times=3, error='permanent')
        office.until(1001)
        self.assertEqual('ERROR', office.status(lease))
        office.until(1100)
        self.assertEqual('TERMINATED', office.status(lease))
        self.assertEqual(1, office.bus.told().count('error'))

    def test_deleting_a_lease_whose_end_fails(self) -> None:
        office = self.office
        lease = office.create(0, 1000)
        office.until(999)
        office.cloud.reachable = False
        office.until(1010)
        office.delete(lease)
        office.until(1020)
        office.cloud.reachable = True
        office.until(1100)
        self.assertEqual(('gone', ALL), (office.status(lease), office.pooled()))

    def test_failed_images_are_told_and_do_not_keep_it_from_ending(self) -> None:
        office = self.office
        lease = office.create(0, 1000, action='snapshot')
        office.until(10)
        office.boot(lease)
        office.cloud.fail('compute.create_image', times=None, error='conflict')
        office.until(900)
        self.assertEqual(EventState.ERROR, office.event(lease, EventKind.BEFORE_END).state)
        self.assertEqual(1, office.bus.told().count('error'))
        self.assertEqual(1, office.bus.told().count('before_end_lease'))
        office.until(1002)
        self.assertEqual('TERMINATED', office.status(lease))

    def test_two_ends_do_not_stand_in_each_others_way(self) -> None:
        office = self.office
        first, second = office.create(0, 1000), office.create(0, 1000)
        office.until(999)
        (host,) = office.hosts(first)
        office.boot(first)
        office.cloud.fail('compute.delete_server', times=None)
        office.until(1010)
        self.assertEqual('TERMINATING', office.status(first))
        self.assertEqual('TERMINATED', office.status(second))
        self.assertEqual(ALL - {host}, office.pooled())


class TestUpdate(_Test):
    """The cloud fails when an active lease grows."""

    def test_fails_for_good(self) -> None:
        office = self.office
        lease = office.create(0, 3600)
        office.until(10)
        had = office.hosts(lease)
        office.cloud.fail('compute.remove_host', times=None)
        office.update(lease, hosts=3)
        office.until(20)
        self.assertEqual('UPDATING', office.status(lease))
        self.assertEqual(2, len(office.hosts(lease)))
        office.until(140)
        office.cloud.heal()
        office.until(200)
        self.assertEqual('ACTIVE', office.status(lease))
        self.assertEqual(1, office.now(lease).reservations[0].request['max'])
        self.assertEqual((had, ALL - had), (office.hosts(lease), office.pooled()))
        self.assertEqual(1, len(office.allocations(lease)))
        self.assertEqual(EventState.ERROR, office.event(lease, EventKind.UPDATE).state)
        self.assertEqual('update_lease', office.bus.last('lease.event.error')['event_type'])
        self.assertEqual('active', office.reservation(lease))
        # Everybody else can have what was given back, now.
        other = office.create(200, 3600, hosts=3)
        office.until(210)
        self.assertEqual('ACTIVE', office.status(other))

    def test_the_end_comes_while_it_is_undone(self) -> None:
        office = self.office
        lease = office.create(0, 1000)
        office.until(990)
        office.cloud.reachable = False
        office.update(lease, hosts=3)
        office.until(1200)
        office.cloud.reachable = True
        office.until(1300)
        self.assertEqual(('TERMINATED', ALL), (office.status(lease), office.pooled()))
        self.assertEqual([], office.allocations(lease))

    def test_grows_onto_a_host_that_is_not_handed_over_yet(self) -> None:
        office = self.office
        lease = office.create(0, 5000)
        others = office.create(0, 1000, hosts=3)
        office.until(999)
        office.cloud.set_server_deletion_seconds(60)
        office.boot(others)
        office.until(1001)
        office.update(lease, hosts=4)
        office.until(1050)
        self.assertEqual('UPDATING', office.status(lease))
        self.assertEqual(1, len(office.hosts(lease)))
        office.until(1070)
        self.assertEqual(('ACTIVE', ALL), (office.status(lease), office.hosts(lease)))

    def test_deleting_while_it_grows(self) -> None:
        office = self.office
        lease = office.create(0, 1000)
        office.until(100)
        office.cloud.reachable = False
        office.update(lease, hosts=3)
        office.until(110)
        office.delete(lease)
        office.cloud.reachable = True
        office.until(200)
        self.assertEqual(('gone', ALL), (office.status(lease), office.pooled()))


class TestDefect(_Test):
    """A plugin that raises what it must not takes no manager with it."""

    def test_is_tried_again_and_told(self) -> None:
        office = self.office
        lease = office.create(100, 3600)
        plugin = office.plugins['physical:host']

        def explode(work: object, cloud: object) -> None:
            raise ZeroDivisionError

        plugin.start = explode
        office.until(400)
        self.assertEqual('ERROR', office.status(lease))
        self.assertIn('ZeroDivisionError', office.bus.last('lease.event.error')['reason'])

    def test_a_type_that_is_not_served_any_more(self) -> None:
        office = self.office
        lease = office.create(100, 3600)
        plugin = office.plugins.pop('physical:host')
        office.until(130)
        self.assertEqual('STARTING', office.status(lease))
        office.plugins['physical:host'] = plugin
        office.until(200)
        self.assertEqual('ACTIVE', office.status(lease))
