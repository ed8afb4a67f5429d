# SPDX-License-Identifier: Apache-2.0

"""What becomes of a lease whose resources the lease before does not give back."""

from __future__ import annotations

import dataclasses
import datetime
import logging
from typing import Any
from unittest import mock

import fixtures
import sqlalchemy as sa

from climate import exceptions
from climate.domain.events import EventKind
from climate.domain.leases import AllocationState
from climate.domain.leases import Lease
from climate.domain.lifecycles import EventState
from climate.domain.requests import Caller
from climate.manager.running import handover
from climate.testing import deployment
from tests import base
from tests import drafts
from tests import services
from tests.functional.manager import harness
from tests.functional.manager import server_case
from tests.functional.manager import slots
from tests.functional.manager import yard
from tests.functional.manager.harness import Site

ALL = {'compute-1', 'compute-2', 'compute-3', 'compute-4'}
FOR_EVER = 10**6


class _Test(base.TestCase):
    """A site whose first lease ends at 1000 seconds, but does not."""

    kind = services.SQLITE

    def open(self, hosts: int, lasts: float = FOR_EVER, **changes: Any) -> Lease:
        """Open it with a first lease whose servers go so many seconds after its end."""
        self.site = self.useFixture(Site(harness.changed(**changes), self.kind))
        first = self.site.create(0, 1000, hosts=hosts, until=10)
        self.site.cloud.set_server_deletion_seconds(lasts)
        for host in sorted(self.site.hosts(first)):
            self.site.cloud.boot_server(host, harness.PROJECT, 'stays')
        return first

    def of_others(self, *args: Any, **facts: Any) -> Lease:
        """Book for another project."""
        caller = Caller(user_id='bob', project_id='red')
        with mock.patch.object(deployment, 'CALLER', caller):
            return self.site.create(*args, **facts)

    def names(self, lease: Lease) -> set[str]:
        return {item.resource_name for item in self.site.allocations(lease)}

    def start(self, lease: Lease) -> EventState:
        return self.site.event(lease, EventKind.START).state


class TestStart(_Test):
    """A start is announced as late, moved, or given up."""

    def test_it_is_moved_to_another_resource(self) -> None:
        first = self.open(1)
        second = self.site.create(1000, 3000)
        self.assertEqual(self.names(first), self.names(second))
        self.site.until(1005)
        self.assertNotIn('error', self.site.bus.received(second))
        self.site.until(1020)
        notified = self.site.bus.last('lease.event.error')
        self.assertEqual((second.id, 'start_lease'), (notified['lease_id'], notified['event_type']))
        (name,) = self.names(first)
        self.assertIn(name, notified['reason'])
        self.assertEqual('PENDING', self.site.status(second))
        self.assertEqual('ACTIVE', self.site.status_at(1070, second))
        self.assertFalse(self.names(first) & self.names(second))
        self.assertEqual(self.names(second), self.site.hosts(second))
        moved = self.site.bus.last('lease.rehomed')
        self.assertEqual(([name], sorted(self.names(second))), (moved['from'], moved['to']))
        self.assertEqual('TERMINATING', self.site.status(first))
        notified = self.site.bus.received(second)
        found = [notified.count(one) for one in ('error', 'rehomed', 'start_lease')]
        self.assertEqual([1, 1, 1], found)
        self.assertEqual('ACTIVE', self.site.status_at(1200, second))

    def test_of_several_only_what_is_not_free_is_moved(self) -> None:
        first = self.open(1)
        second = self.site.create(1000, 3000, hosts=3)
        before = self.names(second)
        self.assertTrue(self.names(first) < before)
        self.assertEqual('ACTIVE', self.site.status_at(1070, second))
        self.assertEqual(before - self.names(first), before & self.names(second))
        self.assertEqual(ALL - self.names(first), self.site.hosts(second))

    def test_nothing_is_free(self) -> None:
        first = self.open(4, lasts=200)
        second = self.site.create(1000, 3000, hosts=4)
        site = self.site
        site.until(1110)
        self.assertEqual(('PENDING', 1), (site.status(second), self.errors(second)))
        site.until(1140)
        self.assertEqual(('ERROR', 'error'), (site.status(second), site.reservation(second)))
        self.assertEqual((EventState.ERROR, 2), (self.start(second), self.errors(second)))
        self.assertEqual('ERROR', site.bus.last('lease.event.error')['status'])
        self.assertEqual([], site.allocations(second))
        self.assertNotIn('start_lease', site.bus.received(second))
        # What the first lease has is left alone.
        self.assertEqual((ALL, 4), (site.hosts(first), len(list(site.cloud.servers()))))
        site.until(1250)
        self.assertEqual(('TERMINATED', ALL), (site.status(first), site.pooled()))
        site.until(3001)
        self.assertEqual(('TERMINATED', 2), (site.status(second), self.errors(second)))

    def errors(self, lease: Lease) -> int:
        return self.site.bus.received(lease).count('error')

    def test_it_ends_while_it_waits(self) -> None:
        self.open(4)
        second = self.site.create(1000, 1050, hosts=4)
        self.assertEqual('TERMINATED', self.site.status_at(1060, second))
        self.assertEqual((EventState.ERROR, 2), (self.start(second), self.errors(second)))
        self.assertIn('has not released', self.site.event(second, EventKind.START).error or '')

    def test_one_line_of_the_log_names_all_that_it_waits_for(self) -> None:
        first = self.open(4)
        log = self.useFixture(fixtures.FakeLogger(handover.__name__, level=logging.INFO))
        second = self.site.create(1000, 3000, hosts=4, until=1060)
        (line,) = log.output.splitlines()
        hosts = ', '.join(sorted(ALL))
        self.assertEqual(
            f'Lease {second.id}: start_lease waits for {hosts}, which lease {first.id} of '
            f'project {harness.CALLER.project_id} has not released',
            line,
        )

    def test_given_back_in_time(self) -> None:
        first = self.open(4, lasts=80)
        second = self.site.create(1000, 3000, hosts=4)
        self.assertEqual('TERMINATED', self.site.status_at(1100, first))
        self.assertEqual(('ACTIVE', 1), (self.site.status(second), self.errors(second)))
        self.assertEqual(ALL, self.site.hosts(second))

    def test_an_end_that_has_failed_is_reported_at_once(self) -> None:
        self.open(4)
        self.site.cloud.fail('compute.delete_server', times=None)
        self.assertEqual(1, self.errors(self.site.create(1000, 3000, hosts=4, until=1002)))

    def test_leases_of_other_projects_are_not_shown(self) -> None:
        first = self.open(2)
        mine = self.site.create(1000, 3000, hosts=2, until=1020)
        self.assertIn(first.reservations[0].id, self.site.event(mine, EventKind.START).error or '')
        first = self.open(4)
        theirs = self.of_others(1000, 3000, hosts=4)
        self.site.until(1020)
        said = [self.site.event(theirs, EventKind.START).error or '']
        said += [
            item.payload['reason'] for item in self.site.bus.taken if 'error' in item.event_type
        ]
        self.assertEqual(2, len(said))
        for text in said:
            self.assertIn('compute-1', text)
            for secret in (first.id, first.reservations[0].id, first.project_id):
                self.assertNotIn(secret, text)

    def test_outages_do_not_count(self) -> None:
        self.open(4)
        second = self.site.create(1000, 9000, hosts=4, until=1030)
        self.site.away_until(5000)
        self.assertEqual('PENDING', self.site.status_at(5060, second))
        self.assertEqual('ERROR', self.site.status_at(5100, second))

    def test_new_dates_are_another_wait(self) -> None:
        self.open(4)
        second = self.site.create(1000, 3000, hosts=4, until=1100)
        self.site.update(second, start=1500, end=3000)
        self.site.until(1590)
        self.assertEqual(('PENDING', 2), (self.site.status(second), self.errors(second)))
        self.site.until(1640)
        self.assertEqual(('ERROR', 3), (self.site.status(second), self.errors(second)))

    def test_others_are_faster_each_time(self) -> None:
        """It waits where it is, and nothing is lost."""
        self.open(1, lasts=75)
        second = self.site.create(1000, 3000)
        self.site.settings = harness.changed(booking_attempts=0)
        self.site.manager = self.site.add_manager()
        self.site.until(1070)
        self.assertEqual(('PENDING', 1), (self.site.status(second), self.errors(second)))
        self.assertEqual('ACTIVE', self.site.status_at(1090, second))


class TestChange(_Test):
    """A running lease grows onto what is not given back."""

    def test_it_is_undone_and_reported(self) -> None:
        first = self.open(1)
        site = self.site
        grows = site.create(20, 3000, hosts=2)
        site.create(30, 3000, until=1001)
        site.update(grows, hosts=3)
        self.assertTrue(self.names(first) < self.names(grows))
        self.assertEqual('UPDATING', site.status_at(1030, grows))
        self.assertEqual(1, site.bus.received(grows).count('error'))
        self.assertEqual('ACTIVE', site.status_at(1140, grows))
        self.assertEqual(2, site.bus.received(grows).count('error'))
        self.assertFalse(self.names(first) & self.names(grows))
        self.assertEqual(2, site.now(grows).reservations[0].request['min'])
        self.assertEqual(self.names(grows), site.hosts(grows))
        self.assertEqual({AllocationState.HELD}, {item.state for item in site.allocations(first)})
        self.assertEqual(EventState.ERROR, site.event(grows, EventKind.UPDATE).state)


class TestCleaning(_Test):
    """What is given back late is cleaned for as long as ever."""

    def test_the_next_one_waits(self) -> None:
        first = self.open(4, lasts=50, cleaning_time=datetime.timedelta(seconds=100))
        second = self.site.create(1100, 3000, hosts=4)
        self.assertEqual('TERMINATED', self.site.status_at(1140, first))
        self.assertEqual('PENDING', self.site.status(second))
        self.assertIn('cleaned', self.site.event(second, EventKind.START).error or '')
        self.assertEqual('ACTIVE', self.site.status_at(1165, second))
        self.assertNotIn('error', self.site.bus.received(second))

    def test_later_choices_leave_the_time(self) -> None:
        self.open(4, lasts=50, cleaning_time=datetime.timedelta(seconds=100))
        self.site.until(1065)
        self.assertRaises(exceptions.NotEnoughResources, self.site.create, 1110, 3000)
        self.site.create(1170, 3000)

    def test_it_is_moved_rather_than_kept_waiting_for_long(self) -> None:
        self.open(1, lasts=300, cleaning_time=datetime.timedelta(seconds=400))
        second = self.site.create(1400, 3000)
        self.assertEqual('PENDING', self.site.status_at(1459, second))
        self.assertEqual('ACTIVE', self.site.status_at(1470, second))


class TestParts(_Test):
    """Parts of hosts that a lease before holds beyond its time."""

    def book(self, start: float, end: float) -> Lease:
        """Book all processors of a host."""
        draft = drafts.lease(
            harness.at(start),
            harness.at(end),
            yard.parts(1, {'VCPU': 16}),
            name='parts',
            asked_at=harness.NOW,
        )
        return self.site.leases.create(harness.CALLER, draft)

    def crowded(self) -> Lease:
        """Have the end of a lease fail for ever; return the one that comes next there."""
        self.site = self.useFixture(Site())
        plugins: dict[str, Any] = self.site.plugins
        plugins[slots.RESOURCE_TYPE] = slots.Slots()
        self.first = self.book(0, 1000)
        self.others = [self.book(1000, 3000) for _ in ALL]
        self.site.until(999)
        error = exceptions.Transient('the ledger is locked')
        patch = mock.patch.object(slots.Slots, 'end', side_effect=error)
        patch.start()
        self.addCleanup(patch.stop)
        (second,) = (one for one in self.others if self.names(one) == self.names(self.first))
        return second

    def test_it_is_moved(self) -> None:
        second = self.crowded()
        free = next(one for one in self.others if one.id != second.id)
        names = self.names(free)
        self.site.delete(free)
        self.site.until(1003)
        self.assertIn('waiting: ', self.site.bus.last('lease.event.error')['reason'])
        self.site.until(1070)
        self.assertEqual(('ACTIVE', names), (self.site.status(second), self.names(second)))
        self.assertEqual(1, self.site.bus.received(second).count('rehomed'))
        self.assertEqual('TERMINATING', self.site.status(self.first))

    def test_nothing_is_free(self) -> None:
        second = self.crowded()
        self.assertEqual('ERROR', self.site.status_at(1140, second))
        for one in self.others:
            if one.id != second.id:
                self.assertEqual('ACTIVE', self.site.status(one))


class TestThings(server_case.ServerCase):
    """What exists already cannot be moved."""

    def test_it_stays_and_is_reported(self) -> None:
        first, second = self.book(100, 200), self.book(200, 4000)
        # Long enough for both: the deadline of this site is 5 seconds.
        self.site.settings = dataclasses.replace(
            self.site.settings, handover_patience=datetime.timedelta(seconds=1)
        )
        self.site.manager = self.site.add_manager()
        self.site.until(199)
        self.cloud.reachable = False
        self.assertEqual('PENDING', self.site.status_at(203, second))
        self.assertEqual(1, self.site.bus.received(second).count('error'))
        self.assertIn('waiting: ', self.reasons(second))
        self.assertEqual('ERROR', self.site.status_at(220, second))
        self.assertIn('it could not start: ', self.reasons(second))
        self.assertNotIn('rehomed', self.site.bus.received(second))
        self.cloud.reachable = True
        self.assertEqual('TERMINATED', self.site.status_at(300, first))


@services.on_each_engine(prefix='TestOn', engines=services.DATABASE_SERVERS)
class _OnServers(_Test):
    """The statements are the same on every engine."""

    def test_moved_reported_and_cleaned(self) -> None:
        first = self.open(1, lasts=90, cleaning_time=datetime.timedelta(seconds=50))
        second = self.site.create(1050, 3000)
        self.assertEqual(self.names(first), self.names(second))
        self.assertEqual('ACTIVE', self.site.status_at(1120, second))
        self.assertFalse(self.names(first) & self.names(second))
        found = [self.site.bus.received(second).count(one) for one in ('error', 'rehomed')]
        self.assertEqual([1, 1], found)
        self.assertEqual([], self.site.allocations(first))
        with self.site.store.reading() as tx:
            ended = tx.session.execute(
                sa.text("SELECT MAX(end_date) FROM allocations WHERE state = 'released'")
            ).scalar_one()
        # When it was given back, and not when its lease ended.
        self.assertLess('2030-01-01 12:18', str(ended))
