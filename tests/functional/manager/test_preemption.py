# SPDX-License-Identifier: Apache-2.0

"""Preemptible leases yield to those that are not: in time, and for no longer than they must."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any
from typing import ClassVar

from climate import exceptions
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.leases import YieldMode
from climate.leases.settings import LeasingSettings
from climate.metrics import catalogue
from climate.testing import restorable
from climate.testing.kinds import TypeRegistrar
from climate.testing.restorable import CALLER
from climate.upkeep.planning import Planner
from tests import base
from tests import drafts
from tests import metrics
from tests.functional.manager import harness
from tests.functional.manager.walk import servers
from tests.functional.manager.walk.deployment import WalkDeployment

GREEN = dataclasses.replace(CALLER, project_id='green', token='alice:green')
SETTINGS = dataclasses.replace(
    restorable.SETTINGS,
    yield_notice=datetime.timedelta(seconds=300),
    yield_seconds=(('physical:host', 60), ('virtual:server', 240)),
)
HOUR = 3600


def racks(number: int) -> tuple[Mapping[str, Any], ...]:
    """Return the reservations of a lease of racks."""
    return ({'resource_type': drafts.RACKS.name, 'min': number, 'max': number},)


def hosts(number: int) -> tuple[Mapping[str, Any], ...]:
    """Return the reservations of a lease of hosts."""
    return ({'resource_type': 'physical:host', 'min': number, 'max': number},)


class PreemptionCase(base.TestCase):
    """A deployment with two racks and four hosts."""

    settings: ClassVar[LeasingSettings] = SETTINGS

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(WalkDeployment(settings=self.settings))
        registrar = TypeRegistrar(self.site.store, self.site.plugins, self.site.cloud)
        for name in ('rack-1', 'rack-2'):
            registrar.register(drafts.RACKS.name, name)
        self.planner = Planner(self.site.leases)

    def preemptible(
        self, requests: Any, length: float = HOUR, caller: Any = GREEN, **facts: Any
    ) -> Lease:
        """Book a preemptible lease that begins at once."""
        now = self.site.seconds()
        draft = self.site.draft(requests, now, now + length)
        facts = {'earliest': draft.start, 'preemptible': True, **facts}
        return self.site.leases.create(caller, dataclasses.replace(draft, **facts))

    def end(self, lease: Lease) -> float:
        """Return the end of the present slice of a lease, in seconds after noon."""
        return (self.site.now(lease).period.end - harness.NOW).total_seconds()

    def lines(self, lease: Lease) -> list[str]:
        """Return the lines of the history of a lease."""
        history = self.site.leases.history(lease.id, None)
        return [line.text for step in history.steps for line in step.lines]


class TestPreemption(PreemptionCase):
    """Leases that run."""

    def test_a_fixed_lease_cuts_a_slice_and_the_rest_follows(self) -> None:
        lease = self.preemptible(racks(2))
        self.site.until(60)
        fixed = self.site.book(racks(2), 1200, 2400)
        self.assertEqual(1200, self.end(lease))
        self.assertIn(
            'yields at 2030-01-01T12:20:00Z: others need its resources', self.lines(lease)
        )
        self.assertEqual('WAITING', self.site.status_at(1210, lease))
        self.assertEqual('ACTIVE', self.site.status(fixed))
        self.assertEqual(1, self.planner.round())
        self.assertEqual('ACTIVE', self.site.status_at(2500, lease))
        self.assertEqual(4800, self.end(lease))
        self.assertEqual('TERMINATED', self.site.status_at(4900, lease))
        self.assertEqual('TERMINATED', self.site.status(fixed))

    def test_an_extension_cuts_a_slice(self) -> None:
        fixed = self.site.book(racks(1), 0, 600)
        first, second = self.preemptible(racks(1)), self.preemptible(racks(1))
        self.site.until(60)
        self.assertEqual([HOUR, 4200], [self.end(first), self.end(second)])
        self.site.update(fixed, end=1200)
        self.site.update(fixed, end=6000)
        self.assertEqual([HOUR, 2 * HOUR], [self.end(first), self.end(second)])

    def test_those_that_were_requested_last_yield_and_no_more_than_needed(self) -> None:
        first = self.preemptible(racks(1))
        self.site.until(60)
        second = self.preemptible(racks(1))
        self.site.book(racks(1), 1200, 2400)
        self.assertEqual((HOUR, 1200), (self.end(first), self.end(second)))

    def test_what_does_not_begin_again_ends(self) -> None:
        lease = self.preemptible(racks(2), yields=YieldMode.END)
        self.site.until(60)
        self.site.book(racks(1), 1200, 2400)
        self.assertEqual('TERMINATED', self.site.status_at(1210, lease))

    def test_its_place_is_empty_before_the_start(self) -> None:
        lease = self.preemptible(hosts(3))
        self.site.until(60)
        fixed = self.site.book(hosts(4), 1200, 2400)
        self.assertEqual(1140, self.end(lease))
        self.assertEqual('WAITING', self.site.status_at(1150, lease))
        self.assertEqual(4, len(self.site.pooled()))
        self.assertEqual('ACTIVE', self.site.status_at(1200, fixed))
        self.planner.round()
        self.assertEqual(2400 + HOUR, self.end(lease))
        self.assertEqual('ACTIVE', self.site.status_at(2500, lease))
        self.assertEqual('TERMINATED', self.site.status_at(2410 + HOUR, lease))

    def test_there_is_a_notice_first(self) -> None:
        lease = self.preemptible(hosts(4))
        self.site.until(60)
        # 300 seconds of notice, and 60 to yield.
        self.assertRaises(exceptions.NotEnoughResources, self.site.book, hosts(1), 419, 2400)
        self.assertEqual(HOUR, self.end(lease))
        self.site.book(hosts(1), 420, 2400)
        self.assertEqual(360, self.end(lease))

    def test_a_project_does_not_preempt_its_own(self) -> None:
        lease = self.preemptible(racks(2), caller=CALLER)
        self.site.until(60)
        self.assertRaises(exceptions.NotEnoughResources, self.site.book, racks(1), 1200, 2400)
        self.assertEqual(HOUR, self.end(lease))

    def test_a_preemptible_lease_does_not_preempt(self) -> None:
        lease = self.preemptible(racks(2))
        self.site.until(60)
        other = self.preemptible(racks(1), caller=CALLER)
        self.assertEqual(HOUR, self.end(lease))
        self.assertEqual(2 * HOUR, self.end(other))

    def test_a_firm_slice_has_another_place(self) -> None:
        fixed = self.site.book(racks(2), 0, 1200)
        lease = self.preemptible(racks(2), length=1200)
        self.assertTrue(lease.is_firm(self.site.clock.now()))
        self.site.book(racks(1), 1200, 1800)
        period = self.site.now(lease).period
        self.assertEqual(harness.at(1800), period.start)
        self.assertEqual('ACTIVE', self.site.status_at(600, fixed))

    def test_nothing_yields_in_vain(self) -> None:
        lease = self.preemptible(racks(1))
        self.site.book(racks(1), 600, 6000)
        self.site.until(60)
        self.assertRaises(exceptions.NotEnoughResources, self.site.book, racks(2), 1200, 2400)
        self.assertEqual(HOUR, self.end(lease))

    def test_a_rehearsal_shows_what_yields(self) -> None:
        lease = self.preemptible(racks(2))
        self.site.until(60)
        draft = self.site.draft(racks(1), 1200, 2400)
        (yields,) = self.site.leases.rehearse_create(CALLER, draft).displaced
        self.assertEqual((lease.id, harness.at(1200)), (yields.id, yields.period.end))
        self.assertEqual(HOUR, self.end(lease))

    def test_servers_in_slots_give_way_to_whole_hosts(self) -> None:
        self.site.until(30)
        slots = ({'resource_type': 'flavor:instance', 'flavor_id': '2', 'amount': 1},)
        draft = self.site.draft(slots, 7200, 10800)
        draft = dataclasses.replace(draft, earliest=draft.start)
        lease = self.site.leases.create(CALLER, draft)
        self.site.book(hosts(4), 7200, 9000)
        self.assertEqual(harness.at(9000), self.site.now(lease).period.start)

    def test_what_yields_late_delays_the_other_start(self) -> None:
        (own,) = servers.own(self.site.cloud)
        self.site.until(30)
        lease = self.preemptible([own], caller=CALLER)
        self.site.until(600)
        draft = self.site.draft(hosts(4), 1800, 3000)
        fixed = self.site.leases.create(GREEN, draft)
        self.site.cloud.fail('compute.shelve_server', None)
        self.site.until(1805)
        self.assertEqual('PENDING', self.site.status(fixed))
        self.assertIn('waiting: the previous lease has not released', self.why(fixed))
        self.site.cloud.heal()
        self.assertEqual('ACTIVE', self.site.status_at(1900, fixed))
        self.assertEqual('WAITING', self.site.status(lease))
        self.assertEqual('SHELVED_OFFLOADED', self.site.cloud.servers()[0].status)

    def why(self, lease: Lease) -> str:
        """Return why a lease has not started."""
        return self.site.event(lease, EventKind.START).error or ''

    def test_servers_leave_their_hosts_in_time(self) -> None:
        (own,) = servers.own(self.site.cloud)
        self.site.until(30)
        lease = self.preemptible([own], caller=CALLER)
        self.site.until(600)
        draft = self.site.draft(hosts(4), 1800, 3000)
        fixed = self.site.leases.create(GREEN, draft)
        # The server, with its room.
        self.assertEqual(1800 - 240, self.end(lease))
        self.assertEqual('WAITING', self.site.status_at(1790, lease))
        (server,) = self.site.cloud.servers()
        self.assertEqual('SHELVED_OFFLOADED', server.status)
        self.assertEqual('ACTIVE', self.site.status_at(1801, fixed))
        self.planner.round()
        self.assertEqual('ACTIVE', self.site.status_at(3100, lease))
        self.assertEqual('ACTIVE', self.site.cloud.servers()[0].status)


class TestLearntYields(PreemptionCase):
    """How long servers take to be shelved."""

    settings = dataclasses.replace(SETTINGS, yield_seconds=())

    def cut(self, number: int, start: int) -> tuple[list[Lease], Lease]:
        """Let leases of servers run, and book all hosts."""
        leases = []
        for _ in range(number):
            (own,) = servers.own(self.site.cloud)
            leases.append(self.preemptible([own], caller=CALLER))
        self.site.until(start - 1200)
        return leases, self.site.leases.create(GREEN, self.site.draft(hosts(4), start, start + 60))

    def test_it_is_learnt_from_those_that_have_yielded(self) -> None:
        recorded = self.useFixture(metrics.RecordedMetrics())
        self.site.cloud.set_seconds('server_action', 40)
        self.site.until(30)
        leases, _ = self.cut(5, 1800)
        # What the type says.
        self.assertEqual({1800 - 300}, {self.end(lease) for lease in leases})
        self.site.until(1900)
        with self.site.store.reading() as tx:
            found = tx.yield_times.last('virtual:server', YieldMode.SUSPEND, 9)
        self.assertEqual(5, len(found))
        takes = max(one.seconds for one in found)
        self.assertTrue(40 <= takes < 120, found)
        self.assertEqual(['suspend'] * 5, [mode for mode, _ in recorded.of(catalogue.YIELDS)])
        (lease,), fixed = self.cut(1, 4200)
        self.assertEqual(4200 - takes, self.end(lease))
        self.assertEqual('ACTIVE', self.site.status_at(4201, fixed))
