# SPDX-License-Identifier: Apache-2.0

"""A plugin that cannot read what it has stored holds no lease up."""

from __future__ import annotations

from typing import Any
from unittest import mock

from climate import exceptions
from climate.api.http.microversions import V1_1
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.manager.running import force as running_force
from climate.plugins.host.plugin import PhysicalHost
from tests import shown
from tests.functional.manager import harness
from tests.functional.manager.harness import SiteCase

ALL = {'compute-1', 'compute-2', 'compute-3', 'compute-4'}


class TestUnreadable(SiteCase):
    """What one reservation does to its own lease, and to others."""

    def setUp(self) -> None:
        super().setUp()
        self.lease = self.site.create(0, 1000)
        self.other = self.site.create(0, 1000, until=10)
        load, describe = PhysicalHost.load, PhysicalHost.describe
        broken = self.lease.reservations[0]

        def read(plugin: PhysicalHost, reservation: Reservation) -> dict[str, Any]:
            if reservation.id == broken.id:
                raise KeyError('colour')
            return describe(plugin, reservation)

        def never(plugin: PhysicalHost, stored: Any) -> Any:
            if self.blind:
                raise KeyError('colour')
            return load(plugin, stored)

        self.blind = False
        for name, method in (('describe', read), ('load', never)):
            patch = mock.patch.object(PhysicalHost, name, method)
            patch.start()
            self.addCleanup(patch.stop)

    def shown(self, lease: Lease) -> dict[str, Any]:
        (found,) = shown.lease(self.site.now(lease), self.site.plugins, V1_1)['reservations']
        return dict(found)

    def force(self, lease: Lease) -> Lease:
        return self.site.store.run(lambda tx: running_force.end(tx, lease.id))

    def test_it_is_shown_and_listed(self) -> None:
        found = self.shown(self.lease)['fault']
        self.assertEqual('the plugin of physical:host cannot read it (KeyError)', found)
        self.assertEqual(1, self.shown(self.other)['min'])
        self.assertNotIn('fault', self.shown(self.other))

    def test_it_ends(self) -> None:
        self.site.until(1010)
        for lease in (self.lease, self.other):
            self.assertEqual('TERMINATED', self.site.status(lease))
            self.assertEqual(1, self.site.bus.received(lease).count('end_lease'))
        self.assertEqual(ALL, self.site.pooled())

    def test_it_is_deleted(self) -> None:
        self.site.delete(self.lease)
        self.assertEqual('gone', self.site.settled(self.lease))
        waiting = self.site.create(2000, 3000)
        with mock.patch.object(PhysicalHost, 'leaves', side_effect=KeyError):
            self.site.delete(waiting)
        self.assertEqual('gone', self.site.settled(waiting))

    def test_a_change_is_refused(self) -> None:
        self.blind = True
        error = self.assertRaises(exceptions.Conflict, self.site.update, self.lease, hosts=2)
        self.assertIn(self.lease.reservations[0].id, error.message)
        self.assertEqual('ACTIVE', self.site.status(self.lease))

    def test_an_effect_that_raises_is_tried_with_pauses(self) -> None:
        with mock.patch.object(PhysicalHost, 'end', side_effect=KeyError('colour')) as end:
            self.site.until(1120)
            # Two leases, with pauses of 1, 2, 4, 8, 16, 30 and 30 seconds.
            self.assertEqual(2 * 8, end.call_count)
            self.site.until(1200)
        self.assertEqual('ERROR', self.site.status(self.lease))

    def test_it_is_ended_by_force(self) -> None:
        with mock.patch.object(PhysicalHost, 'end', side_effect=KeyError('colour')):
            self.assertEqual('ERROR', self.site.status_at(1200, self.lease))
            self.force(self.lease)
            self.assertEqual('TERMINATED', self.site.status_at(1201, self.lease))
            self.assertEqual([], self.site.allocations(self.lease))
            self.assertEqual('ERROR', self.site.status(self.other))
        self.site.delete(self.lease)
        self.assertEqual('gone', self.site.status(self.lease))
        self.assertRaises(exceptions.NotFound, self.force, self.lease)

    def test_before_its_end(self) -> None:
        with mock.patch.object(PhysicalHost, 'end', side_effect=KeyError('colour')):
            self.site.until(100)
            self.force(self.lease)
            self.site.work()
        ended = self.site.now(self.lease)
        self.assertEqual(('TERMINATED', harness.at(100)), (ended.status, ended.period.end))
        self.assertRaises(exceptions.Conflict, self.force, self.lease)

    def test_a_deletion_by_force(self) -> None:
        with mock.patch.object(PhysicalHost, 'end', side_effect=KeyError('colour')):
            self.site.delete(self.lease)
            self.assertEqual('ERROR', self.site.status_at(200, self.lease))
            self.force(self.lease)
            self.site.work()
        self.assertEqual('gone', self.site.status(self.lease))

    def test_a_type_that_is_not_served_any_more(self) -> None:
        plugin = self.site.plugins.pop('physical:host')
        self.assertEqual('TERMINATING', self.site.status_at(1005, self.lease))
        self.force(self.lease)
        self.assertEqual('TERMINATED', self.site.status_at(1010, self.lease))
        self.site.plugins['physical:host'] = plugin
        self.assertEqual('TERMINATED', self.site.status_at(1060, self.other))

    def test_what_has_not_started_is_refused(self) -> None:
        self.assertRaises(exceptions.Conflict, self.force, self.site.create(2000, 3000))

    def test_what_is_under_way_is_waited_for(self) -> None:
        self.site.cloud.set_server_deletion_seconds(50)
        self.site.boot(self.other)
        self.force(self.other)
        self.assertEqual('TERMINATING', self.site.status_at(20, self.other))
        self.assertEqual('TERMINATED', self.site.status_at(80, self.other))
