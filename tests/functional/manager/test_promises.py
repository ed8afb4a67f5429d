# SPDX-License-Identifier: Apache-2.0
"""What is promised of every lease, whatever it is about.

Atomic: prepared wholly or not at all. Resumable: killed at every step, it goes
on, see test_killed. Isolated: two leases never have one thing. Repairable: what was disturbed is
put right, and what was left behind removed.
"""

from __future__ import annotations

import collections
import concurrent.futures
from typing import Any

from climate import exceptions
from climate.cloud.base import Cloud
from climate.domain.history import StepState
from climate.domain.leases import Lease
from climate.plugins.contract import Outcome
from climate.plugins.contract import Work
from climate.plugins.host.plugin import PhysicalHost
from climate.testing.walker import ACTIVE
from climate.testing.walker import END
from climate.testing.walker import LONG
from climate.testing.walker import START
from tests import base
from tests import drafts
from tests.functional import bodies
from tests.functional.manager import harness
from tests.functional.manager.harness import SiteCase
from tests.functional.manager.promised import Promised

PREPARED = START - 30


class Noting(PhysicalHost):
    """Hosts that note how they were taken back.

    :ivar noted: ``end`` or ``undo``, in the order in which they were called
    """

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[str] = []

    def end(self, work: Work, cloud: Cloud) -> Outcome:
        """Note it, and do it."""
        self.noted.append('end')
        return super().end(work, cloud)

    def undo(self, work: Work, cloud: Cloud) -> Outcome:
        """Note it, and do it."""
        self.noted.append('undo')
        return super().end(work, cloud)


class TestNeverStarted(SiteCase):
    """What never started does not end: what was there before stays as it was."""

    def setUp(self) -> None:
        super().setUp()
        self.plugin = Noting()
        self.site.plugins['physical:host'] = self.plugin

    def noted(self, lease: Lease) -> set[str]:
        """Return how the lease was taken back once it was deleted."""
        self.site.delete(lease)
        self.assertEqual('gone', self.site.settled(lease))
        return set(self.plugin.noted)

    def test_deleted_once_it_was_prepared(self) -> None:
        self.assertEqual({'undo'}, self.noted(self.site.create(100, 3600, until=50)))

    def test_deleted_while_its_start_is_tried_again(self) -> None:
        lease = self.site.create(100, 3600, until=99)
        self.site.cloud.fail('compute.add_host')
        self.assertEqual('STARTING', self.site.status_at(100, lease))
        self.assertEqual({'undo'}, self.noted(lease))

    def test_deleted_after_its_start_has_failed(self) -> None:
        lease = self.site.create(100, 3600, until=99)
        self.site.cloud.fail('compute.add_host', error='permanent')
        self.assertEqual('ERROR', self.site.status_at(100, lease))
        self.assertEqual({'undo'}, self.noted(lease))

    def test_the_period_passed_while_no_manager_ran(self) -> None:
        lease = self.site.create(100, 200, until=50)
        self.site.away_until(300)
        self.site.work()
        self.assertEqual({'undo'}, set(self.plugin.noted))
        self.assertEqual({'undo'}, self.noted(lease))

    def test_what_has_started_ends(self) -> None:
        self.assertEqual({'end'}, self.noted(self.site.create(100, 3600, until=200)))

    def test_what_has_started_ends_though_its_end_fails_for_long(self) -> None:
        lease = self.site.create(0, 1000, until=999)
        self.site.cloud.reachable = False
        self.assertEqual('ERROR', self.site.status_at(1500, lease))
        self.site.cloud.reachable = True
        self.assertEqual({'end'}, self.noted(lease))


class TestAtomic(Promised, base.TestCase):
    """All is prepared, or nothing."""

    def test_whatever_is_refused_nothing_is_left_of_the_rest(self) -> None:
        begin = self.site.save()
        calls = self.calls(PREPARED)
        self.assertGreater(len(calls), 2)
        for when in ('before', 'after'):
            counted: collections.Counter[str] = collections.Counter()
            for verb in calls:
                self.site.restore(begin)
                skip, counted[verb] = counted[verb], counted[verb] + 1
                self.site.cloud.fail(verb, 1, when=when, error='permanent', skip=skip)
                self.site.until(PREPARED)
                self.check_undone(f'{verb} ({skip}) {when}')

    def check_undone(self, where: str) -> None:
        site, lease = self.site, self.lease
        self.assertEqual(self.clean, site.cloud.contents(), where)
        self.assertEqual('PENDING', site.status(lease), where)
        self.assertEqual(1, len(site.reasons(lease)), where)
        failed = [step for step in self.steps() if step.error is not None]
        self.assertEqual(['prepare'], [step.effect for step in failed], where)
        self.assertIn('as configured', str(failed[0].error))
        states = {step.state for step in self.steps() if step.effect == 'prepare'}
        self.assertEqual({StepState.UNDONE}, states, where)
        # What could not be prepared is done with the rest when it starts.
        site.until(ACTIVE)
        self.assertEqual('ACTIVE', site.status(lease), where)

    def steps(self) -> Any:
        return self.site.leases.history(self.lease.id, harness.PROJECT).steps


class TestRepairable(Promised, base.TestCase):
    """What was disturbed is put right."""

    def test_what_the_cloud_has_forgotten_is_made_again(self) -> None:
        empty = self.site.cloud.state()
        self.site.until(ACTIVE)
        whole = self.site.picture(self.lease)
        self.site.cloud.restore(empty)
        self.assertNotEqual([], list(self.site.repair().run()))
        self.assertEqual([], list(self.site.repair().rehearse()))
        self.assertEqual(whole, self.site.picture(self.lease))
        self.site.until(END + LONG)
        self.assertEqual([], list(self.left()))

    def test_what_a_lease_has_left_behind_is_removed(self) -> None:
        self.site.until(ACTIVE)
        full = self.site.cloud.state()
        self.site.delete(self.lease)
        self.site.until(ACTIVE + LONG)
        self.site.cloud.restore(full)
        self.assertNotEqual([], list(self.left()))
        list(self.site.repair().run())
        self.assertEqual([], list(self.left()))


class TestIsolated(SiteCase):
    """Two leases never have one thing."""

    def book(self, start: float, end: float) -> Lease:
        """Book a certain host."""
        body = bodies.hosts(1, hypervisor_properties='["==", "$hypervisor_hostname", "compute-2"]')
        draft = drafts.lease(
            harness.at(start), harness.at(end), body, name='mine', asked_at=harness.at(0)
        )
        return self.site.leases.create(harness.CALLER, draft)

    def test_the_second_is_refused(self) -> None:
        first = self.book(1000, 2000)
        for start, end in ((1000, 2000), (500, 1001), (1999, 3000), (1200, 1300), (1, 9000)):
            self.assertRaises(exceptions.NotEnoughResources, self.book, start, end)
        # What only touches does not overlap.
        before, after = self.book(500, 1000), self.book(2000, 3000)
        self.site.until(999)
        self.assertEqual({'compute-2'}, self.site.hosts(before))
        self.site.until(1500)
        self.assertEqual({'compute-2'}, self.site.hosts(first))
        self.site.until(2500)
        self.assertEqual({'compute-2'}, self.site.hosts(after))

    def test_of_many_at_once_one_gets_it(self) -> None:
        def book(_number: int) -> bool:
            try:
                self.book(1000, 2000)
            except (exceptions.NotEnoughResources, exceptions.BookedMeanwhile):
                return False
            return True

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertEqual(1, sum(pool.map(book, range(24))))


class _OneThing(Promised):
    """Something of a user's, which is leased."""

    def test_another_lease_at_the_time_is_refused(self) -> None:
        for start, end in ((START, END), (START - 50, START + 1), (END - 1, 2 * END)):
            refused = self.assertRaises(
                exceptions.NotEnoughResources, self.site.book, self.requests, start, end
            )
            self.assertEqual(409, refused.code)
        self.assertEqual('PENDING', self.site.status(self.site.book(self.requests, END, 2 * END)))
        self.assertEqual([], list(self.site.repair().rehearse()))


class TestOneServer(_OneThing, base.TestCase):
    """A server."""

    kind = 'virtual:server'


class TestOneVolume(_OneThing, base.TestCase):
    """A volume."""

    kind = 'volume that exists'


class TestOneStack(_OneThing, base.TestCase):
    """A stack."""

    kind = 'virtual:stack'


class TestStepByStep(Promised, base.TestCase):
    """Of a server of somebody's it is kept what was done with it, step by step."""

    kind = 'virtual:server'

    def test_step_by_step(self) -> None:
        self.site.until(END + LONG)
        steps = self.site.leases.history(self.lease.id, harness.PROJECT).steps
        mine = [step for step in steps if step.resource_type == 'virtual:server']
        self.assertEqual(['prepare', 'start', 'end'], [step.effect for step in mine])
        words = [line.text for step in mine for line in step.lines]
        for word, text in zip(
            ('shelved', 'ACTIVE', 'image', 'deleted server', 'was deleted'), words, strict=True
        ):
            self.assertIn(word, text)
