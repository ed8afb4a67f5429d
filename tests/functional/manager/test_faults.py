# SPDX-License-Identifier: Apache-2.0

"""What becomes of leases when the cloud fails.

What is sent, how often it is tried, and what else happens meanwhile; that each
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
from tests.functional.manager.harness import Site
from tests.functional.manager.harness import SiteCase

ALL = {'compute-1', 'compute-2', 'compute-3', 'compute-4'}


class TestStart(SiteCase):
    """The cloud fails when a lease starts."""

    def test_tried_with_growing_pauses_and_then_undone(self) -> None:
        site = self.site
        site.cloud.keep_journal()
        lease = site.create(100, 3600, until=99)
        site.cloud.reachable = False
        self.assertEqual('STARTING', site.status_at(219, lease))
        self.assertNotIn('error', site.bus.received())
        tries = [(call.at - harness.NOW).total_seconds() for call in site.cloud.journal()]
        tries = [second for second in tries if second >= 100]
        pauses = [round(b - a) for a, b in itertools.pairwise(tries)]
        self.assertEqual([1, 2, 4, 8, 16, 30, 30], pauses)
        site.until(300)
        self.assertEqual(('ERROR', 'error'), (site.status(lease), site.reservation(lease)))
        self.assertEqual(EventState.ERROR, site.event(lease, EventKind.START).state)
        notification = site.bus.last('lease.event.error')
        self.assertEqual('start_lease', notification['event_type'])
        self.assertIn('cannot be reached', notification['reason'])
        self.assertEqual('ERROR', notification['status'])
        # What was begun is undone for as long as it takes.
        site.until(2000)
        self.assertEqual(EventState.UNDONE, site.event(lease, EventKind.UNDO).state)
        self.assertEqual({AllocationState.HELD}, {item.state for item in site.allocations(lease)})
        site.cloud.reachable = True
        site.until(2100)
        self.assertEqual(EventState.DONE, site.event(lease, EventKind.UNDO).state)
        self.assertEqual((ALL, []), (site.pooled(), site.allocations(lease)))
        self.assertEqual('ERROR', site.status(lease))
        site.delete(lease)
        self.assertEqual('gone', site.settled(lease))

    def test_back_in_time(self) -> None:
        lease = self.site.create(100, 3600)
        self.site.cloud.reachable = False
        self.site.until(150)
        self.site.cloud.reachable = True
        self.assertEqual('ACTIVE', self.site.status_at(200, lease))
        self.assertNotIn('error', self.site.bus.received())
        self.assertEqual(1, self.site.bus.received().count('start_lease'))

    def test_nova_is_back(self) -> None:
        """However long it was away, what waits for it goes on soon, by default."""
        conf = cfg.ConfigOpts()
        climate_conf.register_opts(conf)
        conf([])
        site = self.useFixture(Site(LeasingSettings.from_conf(conf), hosts=6))
        for outage in (20, 64, 130):
            start = site.seconds() + 100
            ending = site.create(start - 50, start + 5)
            starting = site.create(start, start + 600, until=start - 1)
            site.cloud.reachable = False
            site.until(start + outage)
            statuses = (site.status(ending), site.status(starting))
            self.assertEqual(('TERMINATING', 'STARTING'), statuses)
            site.cloud.reachable = True
            site.until(start + outage + 10)
            statuses = (site.status(ending), site.status(starting))
            self.assertEqual(('TERMINATED', 'ACTIVE'), statuses, outage)

    def test_half_a_start_is_undone(self) -> None:
        lease = self.site.create(100, 3600, hosts=3, until=99)
        self.site.cloud.fail('compute.remove_host', times=None)
        self.site.until(219)
        self.assertEqual(1, len(self.site.hosts(lease)))
        self.assertEqual('ERROR', self.site.status_at(260, lease))
        self.site.cloud.heal()
        self.site.until(400)
        self.assertEqual(ALL, self.site.pooled())
        other = self.site.create(400, 3600, hosts=4)
        self.assertEqual('ACTIVE', self.site.status_at(410, other))

    def test_permanent_error_is_not_tried_again(self) -> None:
        lease = self.site.create(100, 3600, until=99)
        self.site.cloud.fail('compute.add_host', error='permanent')
        self.assertEqual('ERROR', self.site.status_at(100, lease))
        self.assertEqual(['create', 'before_start_lease', 'error'], self.site.bus.received())
        self.assertEqual((ALL, []), (self.site.pooled(), self.site.allocations(lease)))

    def test_failed_preparation_does_no_harm(self) -> None:
        lease = self.site.create(100, 3600)
        self.site.cloud.fail('compute.create_aggregate', error='permanent')
        self.site.until(60)
        self.assertEqual(EventState.ERROR, self.site.event(lease, EventKind.PREPARE).state)
        self.assertEqual('ACTIVE', self.site.status_at(100, lease))
        # The failure is sent, and the lease is still well.
        notification = self.site.bus.last('lease.event.error')
        self.assertEqual(
            ('prepare', 'PENDING'), (notification['event_type'], notification['status'])
        )
        self.assertEqual(1, self.site.bus.received().count('error'))

    def test_the_end_comes_while_the_start_is_still_tried(self) -> None:
        lease = self.site.create(100, 150)
        self.site.cloud.reachable = False
        self.assertEqual('TERMINATING', self.site.status_at(170, lease))
        self.site.cloud.reachable = True
        self.site.until(300)
        self.assertEqual(
            ('TERMINATED', 'deleted'), (self.site.status(lease), self.site.reservation(lease))
        )
        self.assertEqual(ALL, self.site.pooled())
        states = {item.kind: item.state for item in self.site.now(lease).events}
        # It never started, so no start is reported: its owner gets an error.
        self.assertEqual(EventState.ERROR, states.pop(EventKind.START))
        self.assertEqual({EventState.DONE}, set(states.values()))
        self.assertIn('error', self.site.bus.received())

    def test_a_failed_lease_ends_too(self) -> None:
        lease = self.site.create(100, 1000, until=99)
        self.site.cloud.fail('compute.*', error='permanent')
        self.assertEqual('TERMINATED', self.site.status_at(1000, lease))
        self.assertEqual('end_lease', self.site.bus.received()[-1])

    def test_deleting_while_the_start_is_tried(self) -> None:
        lease = self.site.create(100, 3600)
        self.site.cloud.reachable = False
        self.assertEqual('STARTING', self.site.status_at(110, lease))
        self.site.delete(lease)
        self.assertEqual('DELETING', self.site.status(lease))
        self.site.until(1000)
        # It cannot be said to be gone before the cloud lets it go.
        self.assertEqual('ERROR', self.site.status(lease))
        self.assertEqual(1, self.site.bus.received().count('error'))
        self.assertNotIn('delete', self.site.bus.received())
        self.site.cloud.reachable = True
        self.site.until(1100)
        self.assertEqual(('gone', ALL), (self.site.status(lease), self.site.pooled()))
        self.assertEqual('delete', self.site.bus.received()[-1])
        self.assertNotIn('start_lease', self.site.bus.received())

    def test_deleting_a_failed_lease_before_it_is_undone(self) -> None:
        lease = self.site.create(100, 3600)
        self.site.cloud.reachable = False
        self.assertEqual('ERROR', self.site.status_at(500, lease))
        self.site.delete(lease)
        self.site.until(600)
        self.site.delete(lease)
        self.site.cloud.heal()
        self.site.until(700)
        self.assertEqual(('gone', ALL), (self.site.status(lease), self.site.pooled()))
        self.assertEqual(1, self.site.bus.received().count('delete'))


class TestEnd(SiteCase):
    """The cloud fails when a lease ends."""

    def test_never_given_up_and_reported_once(self) -> None:
        lease = self.site.create(0, 1000, until=999)
        server = self.site.boot(lease)
        self.site.cloud.reachable = False
        self.assertEqual('TERMINATING', self.site.status_at(1100, lease))
        self.assertEqual('ERROR', self.site.status_at(9000, lease))
        self.assertEqual(1, self.site.bus.received().count('error'))
        self.assertEqual([server], [item.id for item in self.site.cloud.servers()])
        self.assertEqual(1, len(self.site.allocations(lease)))
        self.site.cloud.reachable = True
        self.site.until(9100)
        self.assertEqual(
            ('TERMINATED', 'deleted'), (self.site.status(lease), self.site.reservation(lease))
        )
        self.assertEqual('end_lease', self.site.bus.received()[-1])
        self.assertEqual((ALL, ()), (self.site.pooled(), self.site.cloud.servers()))

    def test_permanent_error_at_the_end_is_reported_and_tried_again(self) -> None:
        lease = self.site.create(0, 1000, until=999)
        self.site.boot(lease)
        self.site.cloud.fail('compute.delete_server', times=3, error='permanent')
        self.assertEqual('ERROR', self.site.status_at(1001, lease))
        self.assertEqual('TERMINATED', self.site.status_at(1100, lease))
        self.assertEqual(1, self.site.bus.received().count('error'))

    def test_deleting_a_lease_whose_end_fails(self) -> None:
        lease = self.site.create(0, 1000, until=999)
        self.site.cloud.reachable = False
        self.site.until(1010)
        self.site.delete(lease)
        self.site.until(1020)
        self.site.cloud.reachable = True
        self.site.until(1100)
        self.assertEqual(('gone', ALL), (self.site.status(lease), self.site.pooled()))

    def test_failed_images_are_reported_and_do_not_keep_it_from_ending(self) -> None:
        lease = self.site.create(0, 1000, action='snapshot', until=10)
        self.site.boot(lease)
        self.site.cloud.fail('compute.create_image', times=None, error='conflict')
        self.site.until(900)
        self.assertEqual(EventState.ERROR, self.site.event(lease, EventKind.BEFORE_END).state)
        self.assertEqual(1, self.site.bus.received().count('error'))
        self.assertEqual(1, self.site.bus.received().count('before_end_lease'))
        self.assertEqual('TERMINATED', self.site.status_at(1002, lease))

    def test_two_ends_do_not_stand_in_each_others_way(self) -> None:
        first, second = self.site.create(0, 1000), self.site.create(0, 1000)
        self.site.until(999)
        (host,) = self.site.hosts(first)
        self.site.boot(first)
        self.site.cloud.fail('compute.delete_server', times=None)
        self.assertEqual('TERMINATING', self.site.status_at(1010, first))
        self.assertEqual('TERMINATED', self.site.status(second))
        self.assertEqual(ALL - {host}, self.site.pooled())


class TestUpdate(SiteCase):
    """The cloud fails when an active lease grows."""

    def test_fails_for_good(self) -> None:
        lease = self.site.create(0, 3600, until=10)
        had = self.site.hosts(lease)
        self.site.cloud.fail('compute.remove_host', times=None)
        self.site.update(lease, hosts=3)
        self.assertEqual('UPDATING', self.site.status_at(20, lease))
        self.assertEqual(2, len(self.site.hosts(lease)))
        self.site.until(140)
        self.site.cloud.heal()
        self.assertEqual('ACTIVE', self.site.status_at(200, lease))
        self.assertEqual(1, self.site.now(lease).reservations[0].request['max'])
        self.assertEqual((had, ALL - had), (self.site.hosts(lease), self.site.pooled()))
        self.assertEqual(1, len(self.site.allocations(lease)))
        self.assertEqual(EventState.ERROR, self.site.event(lease, EventKind.UPDATE).state)
        self.assertEqual('update_lease', self.site.bus.last('lease.event.error')['event_type'])
        self.assertEqual('active', self.site.reservation(lease))
        # Everybody else can have what was given back, now.
        other = self.site.create(200, 3600, hosts=3)
        self.assertEqual('ACTIVE', self.site.status_at(210, other))

    def test_the_end_comes_while_it_is_undone(self) -> None:
        lease = self.site.create(0, 1000, until=990)
        self.site.cloud.reachable = False
        self.site.update(lease, hosts=3)
        self.site.until(1200)
        self.site.cloud.reachable = True
        self.site.until(1300)
        self.assertEqual(('TERMINATED', ALL), (self.site.status(lease), self.site.pooled()))
        self.assertEqual([], self.site.allocations(lease))

    def test_grows_onto_a_host_that_is_not_handed_over_yet(self) -> None:
        lease = self.site.create(0, 5000)
        others = self.site.create(0, 1000, hosts=3, until=999)
        self.site.cloud.set_server_deletion_seconds(60)
        self.site.boot(others)
        self.site.until(1001)
        self.site.update(lease, hosts=4)
        self.assertEqual('UPDATING', self.site.status_at(1050, lease))
        self.assertEqual(1, len(self.site.hosts(lease)))
        self.site.until(1070)
        self.assertEqual(('ACTIVE', ALL), (self.site.status(lease), self.site.hosts(lease)))

    def test_deleting_while_it_grows(self) -> None:
        lease = self.site.create(0, 1000, until=100)
        self.site.cloud.reachable = False
        self.site.update(lease, hosts=3)
        self.site.until(110)
        self.site.delete(lease)
        self.site.cloud.reachable = True
        self.site.until(200)
        self.assertEqual(('gone', ALL), (self.site.status(lease), self.site.pooled()))


class TestDefect(SiteCase):
    """A plugin that raises what it must not takes no manager with it."""

    def test_is_tried_again_and_reported(self) -> None:
        lease = self.site.create(100, 3600)
        plugin = self.site.plugins['physical:host']

        def explode(work: object, cloud: object) -> None:
            raise ZeroDivisionError

        plugin.start = explode
        self.assertEqual('ERROR', self.site.status_at(400, lease))
        self.assertIn('ZeroDivisionError', self.site.bus.last('lease.event.error')['reason'])

    def test_a_type_that_is_not_served_any_more(self) -> None:
        lease = self.site.create(100, 3600)
        plugin = self.site.plugins.pop('physical:host')
        self.assertEqual('STARTING', self.site.status_at(130, lease))
        self.site.plugins['physical:host'] = plugin
        self.assertEqual('ACTIVE', self.site.status_at(200, lease))
