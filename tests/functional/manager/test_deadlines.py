# SPDX-License-Identifier: Apache-2.0

"""Preemptible leases that have to end in time: all that is left of them is held."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
from typing import Any

import sqlalchemy as sa
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from climate import exceptions
from climate.db.schema import tables
from climate.domain.leases import Lease
from climate.domain.leases import rest_id
from climate.domain.leases import YieldMode
from climate.enforcement import limits
from climate.testing import restorable
from climate.testing.kinds import TypeRegistrar
from climate.testing.restorable import CALLER
from climate.upkeep.planning import Planner
from tests import base
from tests import drafts
from tests.functional.manager import harness
from tests.functional.manager.test_preemption import GREEN
from tests.functional.manager.test_preemption import racks
from tests.functional.manager.walk.deployment import WalkDeployment

SETTINGS = dataclasses.replace(restorable.SETTINGS, firm_before=restorable.NOTHING)
MODES = (YieldMode.SUSPEND, YieldMode.REQUEUE)
HOUR = 3600
_LEASES, _ALLOCATIONS = tables.LEASES, tables.ALLOCATIONS


class Racks(WalkDeployment):
    """A deployment with three racks, and a planner."""

    def __init__(self, **changes: Any) -> None:
        super().__init__(settings=dataclasses.replace(SETTINGS, **changes))

    def setUp(self) -> None:
        super().setUp()
        registrar = TypeRegistrar(self.store, self.plugins, self.cloud)
        for name in ('rack-1', 'rack-2', 'rack-3'):
            registrar.register(drafts.RACKS.name, name)
        self.planner = Planner(self.leases)

    def window(
        self, number: int, earliest: float, length: float, latest: float, **facts: Any
    ) -> Lease:
        """Book a preemptible lease in a window, in seconds after noon."""
        draft = self.draft(racks(number), earliest, earliest + length)
        facts = {'preemptible': True, 'caller': CALLER, 'latest': harness.at(latest), **facts}
        caller = facts.pop('caller')
        draft = dataclasses.replace(draft, earliest=draft.start, **facts)
        return self.leases.create(caller, draft)

    def pass_until(self, seconds: float) -> None:
        """Let time pass, while a manager works and plans."""
        for now in range(int(self.seconds()), int(seconds), 600):
            self.until(now)
            self.planner.round()
        self.until(seconds)

    def slices(self, lease: Lease) -> list[tuple[float, float]]:
        """Return the present slice of a lease, and those that are held."""
        ids = [one.id for one in lease.reservations]
        with self.store.reading() as tx:
            found = tx.allocations.live_of([*ids, *map(rest_id, ids)])
        return sorted({tuple(map(_after, (one.period.start, one.period.end))) for one in found})

    def hidden(self) -> int:
        """Return how many leases there are that users cannot see."""
        query = sa.select(sa.func.count()).where(
            _LEASES.c.deleted_at.is_not(None), _LEASES.c.status == 'PENDING'
        )
        with self.store.reading() as tx:
            return int(tx.session.scalar(query) or 0)


def _after(time: datetime.datetime) -> float:
    return (time - harness.NOW).total_seconds()


class TestDeadlines(base.TestCase):
    """What is held of leases that yield, or that need several slices."""

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(Racks())

    def ends(self, lease: Lease, at: float) -> None:
        """Check that a lease has run for its time, and has ended at an instant."""
        self.site.pass_until(at + 10)
        now = self.site.now(lease)
        self.assertEqual(('TERMINATED', at), (now.status, _after(now.period.end)))
        length = (lease.time_left or 0) - (now.ran or 0)
        self.assertEqual(length, now.period.length.total_seconds())
        self.assertEqual(0, self.site.hidden())

    def test_what_is_left_is_held(self) -> None:
        lease = self.site.window(3, 0, HOUR, 2 * HOUR, caller=GREEN)
        self.site.until(60)
        fixed = self.site.book(racks(2), 1200, 2400)
        self.assertEqual([(0, 1200), (2400, 4800)], self.site.slices(lease))
        # Others cannot have it.
        self.assertRaises(exceptions.NotEnoughResources, self.site.book, racks(1), 2400, 7200)
        self.site.until(1300)
        self.assertEqual(
            ('PENDING', [(2400, 4800)]), (self.site.status(lease), self.site.slices(lease))
        )
        self.assertEqual('ACTIVE', self.site.status(fixed))
        self.ends(lease, 4800)

    def test_without_room_for_the_rest_it_does_not_yield(self) -> None:
        for mode, latest in ((YieldMode.SUSPEND, 4799), (YieldMode.REQUEUE, 5999)):
            there = self.useFixture(Racks())
            there.window(3, 0, HOUR, latest, caller=GREEN, yields=mode)
            there.until(60)
            self.assertRaises(exceptions.NotEnoughResources, there.book, racks(1), 1200, 2400)

    def test_one_that_begins_again_has_room_for_all_of_it(self) -> None:
        lease = self.site.window(3, 0, HOUR, 6000, caller=GREEN, yields=YieldMode.REQUEUE)
        self.site.until(60)
        self.site.book(racks(2), 1200, 2400)
        self.assertEqual([(0, 1200), (2400, 6000)], self.site.slices(lease))
        self.ends(lease, 6000)

    def test_its_own_project_has_to_ask(self) -> None:
        self.site.window(3, 0, HOUR, 2 * HOUR)
        self.site.until(60)
        draft = self.site.draft(racks(1), 1200, 2400)
        self.assertRaises(exceptions.NotEnoughResources, self.site.leases.create, CALLER, draft)
        self.site.leases.create(CALLER, dataclasses.replace(draft, preempt_own=True))

    def test_what_is_held_moves_and_is_divided(self) -> None:
        lease = self.site.window(3, 0, 2 * HOUR, 4 * HOUR, caller=GREEN)
        self.site.until(60)
        self.site.book(racks(2), 1200, 2400)
        self.assertEqual([(0, 1200), (2400, 8400)], self.site.slices(lease))
        self.site.book(racks(1), 3600, 4800)
        pieces = [(0, 1200), (2400, 3600), (4800, 9600)]
        self.assertEqual(pieces, self.site.slices(lease))
        self.site.until(2500)
        self.assertEqual(pieces[1:], self.site.slices(lease))
        self.ends(lease, 9600)

    def test_a_new_lease_may_need_several_slices(self) -> None:
        self.site.book(racks(2), 1800, 3600)
        lease = self.site.window(2, 0, HOUR, 5400)
        self.assertEqual([(0, 1800), (3600, 5400)], self.site.slices(lease))
        self.assertRaises(exceptions.NotEnoughResources, self.site.window, 2, 0, HOUR, 5400)
        self.ends(lease, 5400)

    def test_a_lease_that_has_not_begun_gives_way_in_slices(self) -> None:
        lease = self.site.window(3, 1200, HOUR, 6000)
        self.site.book(racks(1), 2400, 3600)
        self.assertEqual([(1200, 2400), (3600, 6000)], self.site.slices(lease))
        self.ends(lease, 6000)

    def test_it_is_one_slice_if_there_is_room_again(self) -> None:
        other = self.site.book(racks(2), 1800, 3600)
        self.site.until(60)
        lease = self.site.window(2, 1200, HOUR, 7000)
        self.assertEqual([(1200, 1800), (3600, 6600)], self.site.slices(lease))
        self.site.delete(other)
        self.site.planner.round()
        self.assertEqual([(1200, 4800)], self.site.slices(lease))
        self.assertEqual(0, self.site.hidden())

    def test_what_is_held_goes_with_the_lease(self) -> None:
        for end in ('delete', 'shorten', 'fix'):
            there = self.useFixture(Racks())
            there.book(racks(3), 1800, 3600)
            lease = there.window(3, 600, HOUR, 6000)
            self.assertEqual(1, there.hidden())
            if end == 'delete':
                there.delete(lease)
            elif end == 'fix':
                there.update(lease, start=600, end=1200)
            else:
                there.until(700)
                there.update(lease, end=1200)
            self.assertEqual(0, there.hidden(), end)

    def test_what_yields_too_late_looks_for_another_place(self) -> None:
        lease = self.site.window(3, 0, HOUR, 20_000, caller=GREEN)
        self.site.until(60)
        self.site.book(racks(3), 1200, 2400)
        self.site.clock.move_to(harness.at(9000))
        self.site.work()
        self.assertEqual(('WAITING', 0), (self.site.status(lease), self.site.hidden()))
        self.site.planner.round()
        self.site.pass_until(12_000)
        self.assertEqual('TERMINATED', self.site.status(lease))

    def test_a_rehearsal_keeps_nothing(self) -> None:
        self.site.book(racks(3), 1800, 3600)
        draft = self.site.draft(racks(3), 0, HOUR)
        draft = dataclasses.replace(
            draft, earliest=draft.start, latest=harness.at(7200), preemptible=True
        )
        self.site.leases.rehearse_create(CALLER, draft)
        self.assertEqual(0, self.site.hidden())

    def test_what_is_held_is_within_limits(self) -> None:
        limited = limits.ProjectLimits(usual=limits.Limits(resources=3))
        there = self.useFixture(Racks(limits=limited))
        there.book(racks(3), 1800, 3600)
        draft = there.draft(racks(1), 4000, 5000)
        there.leases.create(GREEN, draft)
        self.assertRaises(exceptions.ClimateError, there.window, 3, 0, HOUR, 5400, caller=GREEN)
        there.window(2, 0, HOUR, 5400, caller=GREEN)


_REQUESTS = st.tuples(
    st.integers(1, 3),
    st.integers(0, 40),
    st.integers(1, 20),
    st.integers(0, 30),
    st.sampled_from([None, *MODES]),
    st.sampled_from([CALLER, GREEN]),
)


class TestEveryDeadline(base.TestCase):
    """Whatever is requested, whenever: what is accepted ends in time, with all of its time."""

    @given(
        wanted=st.lists(st.tuples(st.integers(0, 3), _REQUESTS), min_size=2, max_size=9),
        late=st.integers(0, 700),
    )
    @settings(max_examples=25, deadline=None)
    def test_no_lease_misses_its_latest_end(self, wanted: list[tuple[int, Any]], late: int) -> None:
        accepted = []
        with Racks() as there:
            for pause, (number, ahead, length, slack, mode, caller) in wanted:
                there.pass_until(there.seconds() + pause * 600 + late % 60)
                start = (there.seconds() // 60 + ahead * 2) * 60
                length *= 300
                if start < there.seconds():
                    start += 60
                with contextlib.suppress(exceptions.NotEnoughResources):
                    if mode is None:
                        draft = there.draft(racks(number), start, start + length)
                        there.leases.create(caller, draft)
                        continue
                    latest = start + length + slack * 300
                    lease = there.window(number, start, length, latest, caller=caller, yields=mode)
                    accepted.append((lease, latest, length))
            there.pass_until(there.seconds() + 100_000)
            for lease, latest, length in accepted:
                now = there.now(lease)
                has_run = now.period.length.total_seconds() + (now.ran or 0)
                self.assertEqual(('TERMINATED', length), (now.status, has_run))
                self.assertLessEqual(_after(now.period.end), latest)
            self.assertEqual(0, there.hidden())
