# SPDX-License-Identifier: Apache-2.0

"""Preemptible leases: in time slices, with what becomes of them in between."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from climate import exceptions
from climate.cloud.protocols.stacks import StackDraft
from climate.domain.leases import Lease
from climate.domain.leases import YieldMode
from climate.leases import history
from climate.manager.running import force
from climate.testing import restorable
from climate.testing.kinds import TypeRegistrar
from climate.testing.restorable import CALLER
from climate.upkeep.planning import Planner
from tests import base
from tests import drafts
from tests.functional.manager import harness
from tests.functional.manager.walk import servers
from tests.functional.manager.walk.deployment import WalkDeployment
from tests.functional.manager.walk.stacks import SMALL
from tests.functional.manager.walk.stacks import TEMPLATE

# All slices move until they begin.
SETTINGS = dataclasses.replace(
    restorable.SETTINGS,
    firm_before=restorable.NOTHING,
    yield_notice=datetime.timedelta(seconds=300),
)
HOSTS = ({'resource_type': 'physical:host', 'min': 4, 'max': 4},)
RACKS = ({'resource_type': drafts.RACKS.name, 'min': 1, 'max': 1},)


class SlicesCase(base.TestCase):
    """A deployment in which others have everything from 1,800 to 3,000 seconds after noon."""

    taken: tuple[Mapping[str, Any], ...] = HOSTS

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(WalkDeployment(settings=SETTINGS))
        self.cloud = self.site.cloud
        registrar = TypeRegistrar(self.site.store, self.site.plugins, self.cloud)
        registrar.register(drafts.RACKS.name, 'rack-1')
        self.planner = Planner(self.site.leases)
        self.fixed = self.site.book(self.taken, 1800, 3000)

    def book(self, requests: Any, length: float = 3000, **facts: Any) -> Lease:
        """Book a preemptible lease that begins at once."""
        now = self.site.seconds()
        draft = self.site.draft(requests, now, now + length)
        facts = {'earliest': facts.get('start', draft.start), 'preemptible': True, **facts}
        draft = dataclasses.replace(draft, **facts)
        return self.site.leases.create(CALLER, draft)

    def slice(self, lease: Lease) -> tuple[float, float]:
        """Return when the present slice of a lease is, in seconds after noon."""
        period = self.site.now(lease).period
        start, end = ((at - harness.NOW).total_seconds() for at in (period.start, period.end))
        return start, end

    def resumed(self, lease: Lease) -> tuple[float, float]:
        """Let the first slice pass, and plan; return the second one."""
        self.assertEqual('ACTIVE', self.site.status_at(600, lease))
        self.assertEqual('WAITING', self.site.status_at(1900, lease))
        self.assertEqual([], self.site.allocations(lease))
        self.assertEqual(1, self.planner.round())
        self.assertEqual(0, self.planner.round())
        return self.slice(lease)


class TestSlices(SlicesCase):
    """Leases of racks, whose users keep their work."""

    taken = RACKS

    def test_it_is_suspended_and_resumes(self) -> None:
        lease = self.book(RACKS)
        self.assertEqual((YieldMode.SUSPEND, 600), (lease.yields, lease.min_duration))
        self.assertEqual(((0, 1800), 3000), (self.slice(lease), lease.time_left))
        self.assertEqual((3000, 4200), self.resumed(lease))
        now = self.site.now(lease)
        self.assertEqual((1200, 1800), (now.time_left, now.ran))
        self.assertEqual('PENDING', self.site.status_at(2900, lease))
        self.assertEqual('ACTIVE', self.site.status_at(3500, lease))
        self.assertEqual('TERMINATED', self.site.status_at(4300, lease))

    def test_a_slice_is_long_enough(self) -> None:
        lease = self.book(RACKS, min_duration=harness.at(1900) - harness.NOW)
        self.assertEqual((3000, 6000), self.slice(lease))

    def test_what_is_left_may_be_short(self) -> None:
        lease = self.book(RACKS, length=1830)
        self.assertEqual((3000, 3030), self.resumed(lease))

    def test_it_begins_again(self) -> None:
        lease = self.book(RACKS, length=1860, yields=YieldMode.REQUEUE)
        self.assertEqual((3000, 4860), self.slice(lease))

    def test_it_ends_early(self) -> None:
        shortest = harness.at(900) - harness.NOW
        lease = self.book(RACKS, yields=YieldMode.END, min_duration=shortest)
        self.assertEqual((0, 1800), self.slice(lease))
        self.assertEqual('TERMINATED', self.site.status_at(1900, lease))

    def test_what_is_freed_makes_a_slice_longer(self) -> None:
        self.site.until(60)
        lease = self.book(RACKS, start=harness.at(1200), end=harness.at(3600))
        self.assertEqual((1200, 1800), self.slice(lease))
        self.site.delete(self.fixed)
        self.assertEqual(1, self.planner.round())
        self.assertEqual((1200, 3600), self.slice(lease))
        self.assertEqual(2400, self.site.now(lease).time_left)
        self.assertEqual('TERMINATED', self.site.status_at(3700, lease))

    def test_what_is_freed_makes_a_slice_earlier(self) -> None:
        lease = self.book(RACKS)
        self.resumed(lease)
        self.site.delete(self.fixed)
        self.assertEqual('gone', self.site.settled(self.fixed))
        self.assertEqual(1, self.planner.round())
        start, end = self.slice(lease)
        self.assertEqual((1900, 1200), (start, end - start))

    def test_its_user_ends_it(self) -> None:
        lease = self.book(RACKS)
        self.site.until(600)
        self.site.update(lease, end=1200)
        self.assertEqual('TERMINATED', self.site.status_at(1300, lease))
        self.assertIsNone(self.site.now(lease).time_left)

    def test_its_user_fixes_its_next_slice(self) -> None:
        lease = self.book(RACKS)
        self.resumed(lease)
        self.site.update(lease, start=6000, end=9000)
        now = self.site.now(lease)
        self.assertEqual((None, None, None), (now.yields, now.earliest, now.time_left))
        self.assertEqual('ACTIVE', self.site.status_at(6100, lease))
        self.assertEqual('TERMINATED', self.site.status_at(9100, lease))

    def test_it_is_deleted_between_its_slices(self) -> None:
        lease = self.book(RACKS)
        self.assertEqual('WAITING', self.site.status_at(1900, lease))
        self.site.delete(lease)
        self.assertEqual('gone', self.site.settled(lease))

    def test_its_end_needs_no_slice_where_operators_force_it(self) -> None:
        lease = self.book(RACKS)
        self.site.until(600)
        self.site.store.run(lambda tx: force.end(tx, lease.id))
        self.assertEqual('TERMINATED', self.site.settled(lease))

    def test_its_history_has_each_slice(self) -> None:
        lease = self.book(RACKS)
        self.resumed(lease)
        self.site.until(5000)
        with self.site.store.reading() as tx:
            found = history.show(tx, lease.id, None)
        lines = [line.text for step in found.steps for line in step.lines]
        self.assertIn('suspended with 0:20:00 left', lines)
        self.assertIn('booked, after waiting since 2030-01-01T12:30:00Z', lines)


class TestNotices(SlicesCase):
    """What subscribers receive."""

    taken = RACKS

    def test_they_know_that_it_yields_and_has_yielded(self) -> None:
        lease = self.book(RACKS)
        self.site.until(1499)
        self.assertEqual(['create', 'start_lease'], self.site.bus.received(lease))
        self.site.until(1500)
        notification = self.site.bus.last('lease.yielding')
        self.assertEqual((300, 'suspend'), (notification['seconds_to_end'], notification['yield']))
        self.assertEqual('2030-01-01T12:50:00.000000', notification['resumes_at'])
        self.assertEqual('WAITING', self.site.status_at(1900, lease))
        notification = self.site.bus.last('lease.yielded')
        self.assertEqual(
            ('WAITING', 'suspended with 0:20:00 left'),
            (notification['status'], notification['reason']),
        )
        self.planner.round()
        self.site.until(4300)
        found = self.site.bus.received(lease)
        self.assertEqual(['create', 'start_lease', 'yielding', 'yielded', 'update'], found[:5])
        self.assertEqual(['start_lease', 'end_lease'], found[5:])
        self.assertTrue(self.site.bus.last('lease.event.start_lease')['resumed'])


class TestTotals(base.TestCase):
    """However much others have, each second of a lease is in one slice."""

    @given(
        taken=st.lists(st.tuples(st.integers(0, 300), st.integers(1, 60)), max_size=8),
        length=st.integers(1, 20_000),
        shortest=st.integers(1, 7200),
        freed=st.sets(st.integers(0, 7), max_size=3),
    )
    @settings(max_examples=25, deadline=None)
    def test_all_slices_together_are_as_long_as_the_lease(
        self, taken: list[tuple[int, int]], length: int, shortest: int, freed: set[int]
    ) -> None:
        with WalkDeployment(settings=SETTINGS) as there:
            registrar = TypeRegistrar(there.store, there.plugins, there.cloud)
            registrar.register(drafts.RACKS.name, 'rack-1')
            others = []
            for start, minutes in taken:
                with contextlib.suppress(exceptions.NotEnoughResources):
                    others.append(there.book(RACKS, start * 60, (start + minutes) * 60))
            second = datetime.timedelta(seconds=1)
            draft = there.draft(RACKS, 0, length)
            shortest = min(shortest, length)
            draft = dataclasses.replace(
                draft, earliest=draft.start, preemptible=True, min_duration=shortest * second
            )
            lease = there.leases.create(CALLER, draft)
            slices = self.lived(there, lease, [others[n] for n in freed if n < len(others)])
        self.assertEqual(length, sum(slices))
        self.assertEqual([], [one for one in slices[:-1] if one < shortest])

    def lived(self, there: WalkDeployment, lease: Lease, freed: list[Lease]) -> list[float]:
        """Let a lease live; return the lengths of its slices, while others are given up."""
        planner, found = Planner(there.leases), []
        while there.status(lease) != 'TERMINATED':
            planner.round()
            now = there.now(lease).period
            found.append(now.length.total_seconds())
            there.until((now.end - harness.NOW).total_seconds() + 5)
            if freed and there.status(lease) == 'WAITING':
                there.delete(freed.pop())
                there.work()
        return found


class TestModes(SlicesCase):
    """What types can do."""

    def test_each_type_yields_as_well_as_it_can(self) -> None:
        (own,) = servers.own(self.cloud)
        self.site.until(30)
        self.assertEqual(YieldMode.SUSPEND, self.book([own]).yields)
        self.assertEqual(YieldMode.REQUEUE, self.book(HOSTS).yields)
        self.assertEqual(YieldMode.REQUEUE, self.book([*RACKS, *HOSTS]).yields)

    def test_what_a_type_cannot_do_is_refused(self) -> None:
        error = self.assertRaises(
            exceptions.MalformedParameter, self.book, HOSTS, yields=YieldMode.SUSPEND
        )
        self.assertEqual(
            'Malformed parameter yield: a reservation of physical:host cannot be suspended; it can '
            'requeue and end',
            error.message,
        )
        second = harness.at(1) - harness.NOW
        self.assertRaises(exceptions.MalformedParameter, self.book, HOSTS, min_duration=second)
        self.assertRaises(
            exceptions.MalformedParameter, self.book, RACKS, min_duration=3001 * second
        )


class TestServers(SlicesCase):
    """Servers are shelved between the slices of their lease, and hosts are free."""

    def status(self) -> str:
        (server,) = self.cloud.servers()
        return server.status

    def test_a_server_is_shelved_between_its_slices(self) -> None:
        (own,) = servers.own(self.cloud)
        self.site.until(30)
        lease = self.book([own])
        self.assertEqual('ACTIVE', self.site.status_at(600, lease))
        self.assertEqual('ACTIVE', self.status())
        self.assertEqual('WAITING', self.site.status_at(1900, lease))
        self.assertEqual('SHELVED_OFFLOADED', self.status())
        self.assertEqual('ACTIVE', self.site.status(self.fixed))
        self.planner.round()
        self.assertEqual('ACTIVE', self.site.status_at(3100, lease))
        self.assertEqual('ACTIVE', self.status())
        self.assertEqual('TERMINATED', self.site.status_at(4900, lease))

    def test_a_booted_server_keeps_its_work(self) -> None:
        (wish,) = servers.booted(self.cloud)
        self.site.book(RACKS, 1800, 3000)
        lease = self.book([{**wish, 'guarantee': False, 'on_end': 'delete'}, *RACKS])
        self.assertEqual(YieldMode.SUSPEND, lease.yields)
        self.site.until(600)
        (server,) = self.cloud.servers()
        self.resumed(lease)
        self.assertEqual('SHELVED_OFFLOADED', self.status())
        self.assertEqual('ACTIVE', self.site.status_at(3100, lease))
        self.assertEqual((server.id, 'ACTIVE'), (self.cloud.servers()[0].id, self.status()))
        self.assertEqual('TERMINATED', self.site.status_at(4900, lease))
        self.assertFalse(self.cloud.servers())

    def given_up(self, on_end: str) -> list[str]:
        """Delete a lease between its slices; return the states of its servers."""
        (wish,) = servers.booted(self.cloud)
        self.site.book(RACKS, 1800, 3000)
        lease = self.book([{**wish, 'guarantee': False, 'on_end': on_end}, *RACKS])
        self.resumed(lease)
        self.site.delete(lease)
        self.site.until(2000)
        self.assertEqual('gone', self.site.status(lease))
        return [server.status for server in self.cloud.servers()]

    def test_a_booted_server_that_is_given_up_between_its_slices_is_deleted(self) -> None:
        self.assertEqual([], self.given_up('delete'))

    def test_its_work_is_not_lost_if_an_image_was_to_be_made(self) -> None:
        self.assertEqual(['SHELVED_OFFLOADED'], self.given_up('snapshot,delete'))

    def test_a_server_in_its_room_begins_again(self) -> None:
        (wish,) = servers.booted(self.cloud)
        lease = self.book([wish], length=1860)
        self.assertEqual(YieldMode.REQUEUE, lease.yields)
        self.assertEqual((3000, 4860), self.slice(lease))


class TestStacks(SlicesCase):
    """Stacks are suspended between the slices of their lease."""

    def state(self, stack_id: str) -> str:
        found = self.cloud.orchestration.find_stack(stack_id)
        assert found is not None
        return f'{found.action}_{found.status}'

    def setUp(self) -> None:
        super().setUp()
        self.cloud.put_member('alice', harness.PROJECT, 'member', 'reader')
        self.site.book(RACKS, 1800, 3000)

    def suspended_and_resumed(self, body: Mapping[str, Any]) -> str:
        """Let a lease of a stack have two slices, and return the id of the stack."""
        lease = self.book([{'resource_type': 'virtual:stack', **body}, *RACKS])
        self.assertEqual(YieldMode.SUSPEND, lease.yields)
        self.site.until(600)
        (row,) = self.cloud.contents()['stacks']
        self.resumed(lease)
        stack_id = str(row[0])
        self.assertEqual('SUSPEND_COMPLETE', self.state(stack_id))
        self.assertEqual('ACTIVE', self.site.status_at(3100, lease))
        self.assertEqual('RESUME_COMPLETE', self.state(stack_id))
        self.assertEqual('TERMINATED', self.site.status_at(4900, lease))
        return stack_id

    def test_an_existing_stack(self) -> None:
        heat = self.cloud.of_caller(f'alice:{harness.PROJECT}').orchestration
        stack_id = heat.create_stack(StackDraft(name='mine', template=SMALL))
        self.site.until(30)
        self.assertEqual(stack_id, self.suspended_and_resumed({'stack_id': stack_id}))

    def test_a_stack_of_its_own(self) -> None:
        wish = {'name': 'web', 'template': TEMPLATE, 'guarantee': False}
        stack_id = self.suspended_and_resumed(wish)
        self.assertIsNone(self.cloud.orchestration.find_stack(stack_id))
