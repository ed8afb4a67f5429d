# SPDX-License-Identifier: Apache-2.0

"""Whole managers with their threads, on the clock of the machine."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import time

from climate import exceptions
from climate.clock import SystemClock
from climate.domain.leases import Lease
from climate.domain.requests import LeaseChange
from climate.manager.service import Manager
from climate.manager.service import ManagerOptions
from climate.manager.service import unique_owner
from climate.messaging.publisher import OutboxMessage
from climate.plugins.host import errors
from tests import base
from tests import drafts
from tests import services
from tests.functional import bodies
from tests.functional.manager import harness
from tests.functional.processes import until

OPTIONS = ManagerOptions(workers=4, max_sleep=30.0, claim_seconds=1.0)


class ManagerCase(base.TestCase):
    """A site for managers that run."""

    def setUp(self) -> None:
        super().setUp()
        settings = harness.changed(
            notify_before_start=(), notify_before_end=datetime.timedelta(0), retry_first_pause=0.1
        )
        self.site = self.useFixture(harness.Site(settings, clock=SystemClock()))

    def start(self, options: ManagerOptions = OPTIONS) -> Manager:
        manager = harness.running(self.site, options)
        manager.start()
        self.addCleanup(manager.stop, 5.0)
        return manager

    def create(self, start: float, end: float = 600) -> Lease:
        now = self.site.clock.now()
        draft = drafts.lease(
            now + datetime.timedelta(seconds=start),
            now + datetime.timedelta(seconds=end),
            bodies.hosts(),
            asked_at=now,
        )
        return self.site.leases.create(harness.CALLER, draft)

    def is_active(self, lease: Lease) -> bool:
        return self.site.status(lease) == 'ACTIVE'

    def share(self, database: str) -> None:
        """Let two managers work on the same leases in a database."""
        self.site = self.useFixture(
            harness.Site(self.site.settings, database, hosts=10, clock=SystemClock())
        )
        leases = [self.create(0.5) for _ in range(10)]
        for _ in range(2):
            self.start(ManagerOptions(workers=4, max_sleep=0.1, claim_seconds=2.0))
        for lease in leases:
            until('it is active', lambda lease=lease: self.is_active(lease))
        # Not before: a busy machine would sleep through a short lease.
        for lease in leases:
            self.end_soon(lease)
        for lease in leases:
            until('it has ended', lambda lease=lease: self.ended(lease))
        until('all notifications are sent', lambda: not self.site.waiting())
        found = dict(collections.Counter(self.site.bus.received()))
        self.assertEqual({'create': 10, 'start_lease': 10, 'update': 10, 'end_lease': 10}, found)
        self.assertEqual(10, self.site.cloud.calls('compute.create_aggregate'))
        self.assertEqual(10, len(self.site.pooled()))

    def end_soon(self, lease: Lease) -> None:
        end = self.site.clock.now() + datetime.timedelta(seconds=0.5)
        change = LeaseChange(grain=datetime.timedelta(0), end=end)
        self.site.leases.update(harness.CALLER, lease.id, harness.PROJECT, change)

    def ended(self, lease: Lease) -> bool:
        return self.site.status(lease) == 'TERMINATED'


class TestManager(ManagerCase):
    """One or two managers that run."""

    def test_wakes_by_itself_when_something_is_due(self) -> None:
        lease = self.create(0.5)
        # It may sleep for longer than the test waits.
        self.start(dataclasses.replace(OPTIONS, max_sleep=600.0))
        until('it is active', lambda: self.is_active(lease))

    def test_is_woken_when_something_nearer_comes_in(self) -> None:
        # Longer than the test waits, so only what wakes it can make the lease active.
        manager = self.start(dataclasses.replace(OPTIONS, max_sleep=600.0))
        until('it sleeps', lambda: manager._loop._look_at - time.monotonic() > 300)
        lease = self.create(0)
        manager.wake('lease')
        until('it is active', lambda: self.is_active(lease))

    def test_a_claim_is_kept_for_as_long_as_the_work_takes(self) -> None:
        self.site.cloud.slow('compute.create_aggregate', 2.0)
        lease = self.create(0)
        quick = ManagerOptions(workers=4, max_sleep=0.1, claim_seconds=1.0)
        for _ in range(2):
            self.start(quick)
        until('it is active', lambda: self.is_active(lease))
        self.assertEqual(1, self.site.cloud.calls('compute.create_aggregate'))
        until('all notifications are sent', lambda: not self.site.waiting())
        self.assertEqual(['create', 'start_lease'], self.site.bus.received())

    def test_asked_to_stop_it_finishes_what_it_is_at(self) -> None:
        self.site.cloud.slow('compute.add_host', 0.7)
        lease = self.create(0)
        # The claim outlasts the work on a slow machine too: this is about stopping.
        manager = self.start(dataclasses.replace(OPTIONS, claim_seconds=30.0))
        until('it is at it', lambda: self.site.status(lease) == 'STARTING')
        manager.stop(20.0)
        self.assertTrue(self.is_active(lease))
        other = self.create(0)
        manager.wake()
        self.assertEqual('PENDING', self.site.status(other))

    def test_asked_to_stop_it_does_not_wait_for_long(self) -> None:
        self.site.cloud.slow('compute.add_host', 2.5)
        lease = self.create(0)
        manager = self.start()
        until('it is at it', lambda: self.site.status(lease) == 'STARTING')
        manager.stop(0.2)
        # Had it waited for the call, this were over.
        self.assertEqual('STARTING', self.site.status(lease))
        # Its claim is renewed no more, and what it was at is another's to finish.
        self.start()
        until('it is active', lambda: self.is_active(lease))

    def test_an_unavailable_bus_is_tried_again(self) -> None:
        refused: collections.Counter[str] = collections.Counter()

        def refuse(message: OutboxMessage) -> bool:
            refused[message.event_type] += 1
            return refused[message.event_type] < 2

        self.site.bus.refuses = refuse
        lease = self.create(0)
        self.start()
        until('all notifications are sent', lambda: len(self.site.bus.taken) == 2)
        self.assertEqual(['create', 'start_lease'], self.site.bus.received(lease))
        self.assertEqual([], harness.twice(self.site.bus.taken))

    def test_hosts_come_and_go_through_it(self) -> None:
        manager = self.start()
        self.site.cloud.add_hypervisor('compute-5')
        host_id = manager.register_resource(drafts.host('compute-5', gpu='yes'))
        self.assertIn('compute-5', self.site.pooled())
        self.assertRaises(errors.HostExists, manager.register_resource, drafts.host('compute-5'))
        manager.delete_resource(host_id)
        self.assertNotIn('compute-5', self.site.pooled())
        self.site.cloud.reachable = False
        with self.assertRaises(exceptions.CloudUnavailable):
            manager.register_resource(drafts.host('compute-5'))
        del self.site.plugins['physical:host']
        with self.assertRaises(exceptions.UnsupportedResourceType):
            manager.register_resource(drafts.host('compute-5'))

    def test_a_registration_that_fails_leaves_the_cloud_as_it_was(self) -> None:
        manager = self.start()
        self.site.cloud.add_hypervisor('compute-5')
        self.site.cloud.fail('compute.add_host', times=1, when='after')
        with self.assertRaises(exceptions.CloudUnavailable):
            manager.register_resource(drafts.host('compute-5'))
        self.assertNotIn('compute-5', self.site.pooled())
        manager.register_resource(drafts.host('compute-5'))
        self.assertIn('compute-5', self.site.pooled())

    def test_a_registration_that_cannot_be_undone_is_taken_up_again(self) -> None:
        manager = self.start()
        self.site.cloud.add_hypervisor('compute-5')
        self.site.cloud.fail('compute.add_host', times=1, when='after')
        self.site.cloud.fail('compute.remove_host', times=1)
        with self.assertRaises(exceptions.CloudUnavailable):
            manager.register_resource(drafts.host('compute-5'))
        self.assertIn('compute-5', self.site.pooled())
        manager.register_resource(drafts.host('compute-5'))
        self.assertIn('compute-5', self.site.pooled())

    def test_every_manager_has_a_name_of_its_own(self) -> None:
        names = {unique_owner() for _ in range(100)}
        self.assertEqual(100, len(names))
        self.assertLessEqual(max(map(len, names)), 64)

    def test_many_at_once(self) -> None:
        self.site = self.useFixture(harness.Site(self.site.settings, hosts=40, clock=SystemClock()))
        leases = [self.create(0) for _ in range(40)]
        manager = self.start(dataclasses.replace(OPTIONS, workers=16, claim_seconds=60.0))
        for lease in leases:
            until('it is active', lambda lease=lease: self.is_active(lease))
        for lease in leases:
            self.site.delete(lease)
        manager.wake()
        for lease in leases:
            until('it is gone', lambda lease=lease: self.site.status(lease) == 'gone')
        until('all notifications are sent', lambda: not self.site.waiting())
        found = dict(collections.Counter(self.site.bus.received()))
        self.assertEqual({'create': 40, 'start_lease': 40, 'delete': 40}, found)
        self.assertEqual(40, self.site.cloud.calls('compute.create_aggregate'))
        self.assertEqual(40, len(self.site.pooled()))

    def test_one_worker_works_in_batches_of_one(self) -> None:
        leases = [self.create(0) for _ in range(3)]
        self.start(dataclasses.replace(OPTIONS, workers=1, claim_seconds=60.0))
        for lease in leases:
            until('it is active', lambda lease=lease: self.is_active(lease))
        until('all notifications are sent', lambda: not self.site.waiting())
        found = dict(collections.Counter(self.site.bus.received()))
        self.assertEqual({'create': 3, 'start_lease': 3}, found)


class TestTwoManagers(ManagerCase):
    """They share many leases; ``tests/exhaustive/test_two_managers.py`` has other engines."""

    def test_on_mariadb(self) -> None:
        self.share(services.MARIADB)

    def test_on_postgresql(self) -> None:
        self.share(services.POSTGRESQL)
