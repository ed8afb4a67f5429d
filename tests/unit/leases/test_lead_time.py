# SPDX-License-Identifier: Apache-2.0
"""The start is announced earlier by as long as resources need to get ready."""

from __future__ import annotations

import dataclasses

import hypothesis
from hypothesis import strategies as st

from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.lifecycles import EventState
from climate.leases import schedule
from tests import base
from tests.unit.leases.test_schedule import a_lease
from tests.unit.leases.test_schedule import at
from tests.unit.leases.test_schedule import of
from tests.unit.leases.test_schedule import scheduled
from tests.unit.leases.test_schedule import SETTINGS
from tests.unit.leases.test_schedule import to


def notice_times(lease: Lease) -> list[float]:
    """Return when the start is announced, in seconds from now."""
    return [(item.time - at(0)).total_seconds() for item in of(lease, EventKind.BEFORE_START)]


def done(lease: Lease) -> Lease:
    """Return *lease* once all announcements were sent."""
    events = (
        dataclasses.replace(item, state=EventState.DONE)
        if item.kind is EventKind.BEFORE_START
        else item
        for item in lease.events
    )
    return dataclasses.replace(lease, events=tuple(events))


class TestLeadTime(base.TestCase):
    """What a lease has that needs so many seconds."""

    def test_it_is_announced_that_much_earlier(self) -> None:
        lease = scheduled(a_lease(10000, 20000, lead_time=600))
        self.assertEqual([6400, 9400, 9700, 9940], notice_times(lease))
        self.assertEqual(600, of(lease, EventKind.BEFORE_START)[1].payload.seconds_to_start)

    def test_also_if_the_owner_wants_no_notices(self) -> None:
        lease = scheduled(a_lease(10000, 20000, lead_time=600, notify_before_start=()))
        self.assertEqual([9400], notice_times(lease))

    def test_it_is_reported_once_where_the_owner_wants_the_same(self) -> None:
        self.assertEqual(
            [6400, 9700, 9940], notice_times(scheduled(a_lease(10000, 20000, lead_time=300)))
        )

    def test_at_once_where_it_is_late_already(self) -> None:
        lease = scheduled(a_lease(400, 20000, lead_time=600))
        self.assertEqual([0, 100, 340], notice_times(lease))
        self.assertEqual(400, of(lease, EventKind.BEFORE_START)[0].payload.seconds_to_start)

    def test_not_of_what_starts_now(self) -> None:
        self.assertEqual([], notice_times(scheduled(a_lease(0, 20000, lead_time=600))))

    def test_it_moves_with_the_start(self) -> None:
        lease = scheduled(a_lease(10000, 20000, lead_time=600, notify_before_start=(60,)))
        self.assertEqual([10400, 10940], notice_times(to(lease, 11000, 20000)))

    def test_other_resources_need_another_time(self) -> None:
        lease = scheduled(a_lease(10000, 20000, notify_before_start=(60,)))
        slow = to(lease, 10000, 20000, lead_time=900)
        self.assertEqual([9100, 9940], notice_times(slow))
        self.assertEqual([9940], notice_times(to(slow, 10000, 20000, lead_time=None)))
        change = schedule.reannounced(
            lease, dataclasses.replace(lease, lead_time=900), now=at(0), settings=SETTINGS
        )
        self.assertEqual([at(9100)], [item.time for item in change.added])
        self.assertEqual((), change.removed)

    def test_another_change_repeats_no_announcement(self) -> None:
        lease = scheduled(a_lease(400, 20000, lead_time=600, notify_before_start=()))
        self.assertEqual([0], notice_times(to(lease, 400, 30000, now=5)))
        self.assertEqual([0], notice_times(to(done(lease), 400, 30000, now=5)))
        # But another start does, which is announced again.
        self.assertEqual([0, 5], notice_times(to(done(lease), 500, 30000, now=5)))

    @hypothesis.given(
        lead=st.integers(1, 5000), start=st.integers(1, 9000), moved=st.integers(11, 9000)
    )
    def test_there_is_always_time_if_there_can_be(self, lead: int, start: int, moved: int) -> None:
        lease = scheduled(a_lease(start, 20000, lead_time=lead))
        self.assertIn(max(start - lead, 0), notice_times(lease))
        lease = to(lease, moved, 20000, now=10)
        self.assertIn(
            max(moved - lead, 10) if moved != start else max(start - lead, 0), notice_times(lease)
        )
