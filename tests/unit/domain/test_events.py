# SPDX-License-Identifier: Apache-2.0

"""The order of events, when the next is due, how late one is, how long to pause."""

from __future__ import annotations

import dataclasses
import datetime

from hypothesis import given
from hypothesis import strategies as st

from climate.domain import events
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.lifecycles import EventState
from tests import base

NOON = datetime.datetime(2031, 1, 1, 12, tzinfo=datetime.UTC)
instants = st.integers(-3600, 3600).map(lambda n: NOON + datetime.timedelta(seconds=n))
all_events = st.builds(
    Event,
    id=st.uuids().map(str),
    lease_id=st.just('l'),
    kind=st.sampled_from(EventKind),
    time=instants,
    due=st.one_of(st.just(NOON), instants),
    state=st.sampled_from(EventState),
)


def event(kind: EventKind, **facts: object) -> Event:
    """Return an event at noon."""
    return Event(**{'id': 'e', 'lease_id': 'l', 'kind': kind, 'time': NOON, 'due': NOON, **facts})


def kinds(*some: EventKind) -> list[EventKind]:
    """Return kinds in the order in which they happen at one instant."""
    return [e.kind for e in sorted(map(event, some), key=events.order)]


class OrderTest(base.TestCase):
    @given(st.lists(all_events, max_size=12))
    def test_by_due_time_whatever_the_kind(self, some: list[Event]) -> None:
        dues = [one.due for one in sorted(some, key=events.order)]
        self.assertEqual(sorted(dues), dues)

    @given(st.lists(all_events, max_size=12, unique_by=lambda one: one.id), st.randoms())
    def test_always_the_same(self, some: list[Event], rng: object) -> None:
        shuffled = list(some)
        rng.shuffle(shuffled)
        self.assertEqual(sorted(some, key=events.order), sorted(shuffled, key=events.order))

    def test_ends_before_starts_at_one_instant(self) -> None:
        takes = (EventKind.DELETE, EventKind.UNDO, EventKind.END)
        for take in takes:
            for give in (EventKind.PREPARE, EventKind.START, EventKind.UPDATE):
                self.assertEqual([take, give], kinds(give, take))

    def test_a_notice_comes_before_its_event(self) -> None:
        found = kinds(EventKind.START, EventKind.BEFORE_START)
        self.assertEqual([EventKind.BEFORE_START, EventKind.START], found)
        actual = kinds(EventKind.END, EventKind.BEFORE_END)
        self.assertEqual([EventKind.BEFORE_END, EventKind.END], actual)

    def test_every_kind_has_a_place(self) -> None:
        self.assertEqual(len(EventKind), len({events.order(event(kind))[1] for kind in EventKind}))

    def test_an_earlier_start_comes_before_a_later_end(self) -> None:
        later = NOON + datetime.timedelta(microseconds=1)
        start, end = event(EventKind.START), event(EventKind.END, due=later)
        self.assertEqual([start, end], sorted([end, start], key=events.order))


class KindTest(base.TestCase):
    def test_events_that_only_notify(self) -> None:
        found = set(EventKind) - events.EFFECTS
        self.assertEqual({EventKind.BEFORE_START, EventKind.NOTIFICATION}, found)

    def test_what_users_see(self) -> None:
        at_1_0 = {'start_lease', 'end_lease', 'before_end_lease', 'notification'}
        self.assertEqual(at_1_0, set(events.PUBLIC_AT_1_0))
        self.assertEqual(at_1_0 | {'before_start_lease'}, set(events.PUBLIC_AT_1_1))


class DueTest(base.TestCase):
    @given(st.lists(all_events, max_size=8))
    def test_next_due_is_the_first_open_one(self, some: list[Event]) -> None:
        due = events.next_due(some)
        left = [one for one in some if one.state.value in ('UNDONE', 'IN_PROGRESS')]
        if due is None:
            self.assertEqual([], left)
        else:
            self.assertIn(due, [one.due for one in left])
            self.assertTrue(all(due <= one.due for one in left))

    @given(all_events)
    def test_open_until_done_or_failed(self, one: Event) -> None:
        self.assertEqual(one.state in (EventState.UNDONE, EventState.IN_PROGRESS), one.open)

    def test_nothing_is_due(self) -> None:
        self.assertIsNone(events.next_due([]))
        done = event(EventKind.START, state=EventState.DONE)
        failed = dataclasses.replace(done, state=EventState.ERROR)
        self.assertIsNone(events.next_due([done, failed]))


class LatenessTest(base.TestCase):
    @given(all_events, instants)
    def test_never_negative(self, one: Event, now: datetime.datetime) -> None:
        late = events.lateness(one, now)
        self.assertGreaterEqual(late, datetime.timedelta(0))
        self.assertEqual(max(one.time, now), one.time + late)

    def test_measured_from_its_time_not_from_when_it_was_put_off_to(self) -> None:
        put_off = event(EventKind.END, due=NOON + datetime.timedelta(seconds=30))
        now = NOON + datetime.timedelta(seconds=31)
        self.assertEqual(datetime.timedelta(seconds=31), events.lateness(put_off, now))


class BackoffTest(base.TestCase):
    @given(st.integers(-5, 10**6), st.floats(0.001, 60), st.floats(0, 3600))
    def test_grows_and_is_bounded(self, attempts: int, first: float, more: float) -> None:
        longest = first + more
        pause = events.backoff(attempts, first, longest)
        self.assertGreaterEqual(events.backoff(attempts + 1, first, longest), pause)
        self.assertLessEqual(pause, datetime.timedelta(seconds=longest))
        self.assertGreaterEqual(pause, datetime.timedelta(seconds=first))

    def test_doubles(self) -> None:
        pauses = [events.backoff(n, 1, 10).total_seconds() for n in range(1, 7)]
        self.assertEqual([1, 2, 4, 8, 10, 10], pauses)
