# SPDX-License-Identifier: Apache-2.0

"""Which events a lease has, and how they move with its dates."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
from typing import Any

import hypothesis
from hypothesis import strategies as st

from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.lifecycles import EventState
from climate.domain.lifecycles import LeaseStatus
from climate.domain.periods import Period
from climate.domain.requests import EventDraft
from climate.leases import schedule
from climate.leases.settings import LeasingSettings
from tests import base

NOW = datetime.datetime(2030, 1, 1, 12, tzinfo=datetime.UTC)
SETTINGS = LeasingSettings()


def at(seconds: float) -> datetime.datetime:
    """Return the instant so many seconds from now."""
    return NOW + datetime.timedelta(seconds=seconds)


def a_lease(start: int, end: int, **facts: Any) -> Lease:
    """Return a lease without events."""
    period = Period(start=at(start), end=at(end))
    return Lease(id='l', name='l', user_id='u', project_id='p', period=period, **facts)


def scheduled(lease: Lease, settings: LeasingSettings = SETTINGS, now: float = 0) -> Lease:
    """Return *lease* with its first events."""
    events = schedule.initial(
        lease, (), prepares=schedule.Preparation.SHORTLY_BEFORE, now=at(now), settings=settings
    )
    return dataclasses.replace(lease, events=tuple(events))


def of(lease: Lease, kind: EventKind) -> list[Event]:
    """Return its events of a kind, in the order of time."""
    return sorted((item for item in lease.events if item.kind is kind), key=lambda e: e.time)


def moved(old: Lease, new: Lease, now: float = 0, settings: LeasingSettings = SETTINGS) -> Lease:
    """Return *new* with the events that its dates give those of *old*."""
    change = schedule.rescheduled(
        old, new, prepares=schedule.Preparation.SHORTLY_BEFORE, now=at(now), settings=settings
    )
    events = {item.id: item for item in old.events if item.id not in change.removed}
    assert not {item.id for item in change.changed} & set(change.removed)
    assert not {item.id for item in change.added} & set(events)
    events.update({item.id: item for item in (*change.changed, *change.added)})
    return dataclasses.replace(new, events=tuple(events.values()))


def to(old: Lease, start: int, end: int, now: float = 0, **facts: Any) -> Lease:
    """Return *old* after its dates were changed."""
    period = Period(start=at(start), end=at(end))
    return moved(old, dataclasses.replace(old, period=period, **facts), now)


def notified(lease: Lease, until: float, state: EventState = EventState.DONE) -> Lease:
    """Return *lease* with everything done that was due by an instant."""
    events = (
        dataclasses.replace(item, state=state, begun_at=item.due) if item.due <= at(until) else item
        for item in lease.events
    )
    return dataclasses.replace(lease, events=tuple(events))


offsets = st.lists(st.integers(1, 7200), max_size=4).map(tuple)
starts = st.integers(0, 7200)
lengths = st.integers(1, 10000)


class TestInitial(base.TestCase):
    @hypothesis.given(starts, lengths, offsets)
    def test_start_is_announced_as_wanted_and_never_in_the_past(
        self, start: int, length: int, wanted: tuple[int, ...]
    ) -> None:
        lease = scheduled(a_lease(start, start + length, notify_before_start=wanted))
        notified = {
            item.payload.seconds_to_start: item for item in of(lease, EventKind.BEFORE_START)
        }
        self.assertEqual({offset for offset in wanted if offset < start}, set(notified))
        self.assertEqual(len(notified), len(of(lease, EventKind.BEFORE_START)))
        for offset, event in notified.items():
            self.assertEqual(lease.period.start, event.time + datetime.timedelta(seconds=offset))
            self.assertGreater(event.due, NOW)

    @hypothesis.given(starts, lengths)
    def test_one_start_and_one_end_at_their_times(self, start: int, length: int) -> None:
        lease = scheduled(a_lease(start, start + length))
        self.assertEqual([at(start)], [item.time for item in of(lease, EventKind.START)])
        self.assertEqual([at(start + length)], [item.time for item in of(lease, EventKind.END)])
        for event in lease.events:
            self.assertEqual(event.time, event.due)
            self.assertIs(EventState.UNDONE, event.state)

    @hypothesis.given(starts, lengths)
    def test_end_is_announced_within_the_lease(self, start: int, length: int) -> None:
        (event,) = of(scheduled(a_lease(start, start + length)), EventKind.BEFORE_END)
        self.assertEqual(at(max(start + length - 3600, start)), event.time)

    def test_end_is_not_announced_if_operators_do_not_want_it(self) -> None:
        settings = LeasingSettings(notify_before_end=datetime.timedelta(0))
        self.assertEqual([], of(scheduled(a_lease(60, 90), settings), EventKind.BEFORE_END))
        wanted = a_lease(60, 90, before_end_date=at(70))
        (event,) = of(scheduled(wanted, settings), EventKind.BEFORE_END)
        self.assertEqual(at(70), event.time)

    @hypothesis.given(starts, lengths)
    def test_preparation_is_before_the_start_and_not_in_the_past(
        self, start: int, length: int
    ) -> None:
        prepares = of(scheduled(a_lease(start, start + length)), EventKind.PREPARE)
        self.assertEqual([at(max(start - 60, 0))] if start else [], [e.time for e in prepares])

    def test_nothing_to_prepare(self) -> None:
        lease = a_lease(600, 700)
        for prepares, settings in (
            (schedule.Preparation.NEVER, SETTINGS),
            (
                schedule.Preparation.SHORTLY_BEFORE,
                LeasingSettings(prepare_lead_time=datetime.timedelta(0)),
            ),
        ):
            events = schedule.initial(lease, (), prepares=prepares, now=NOW, settings=settings)
            self.assertNotIn(EventKind.PREPARE, {item.kind for item in events})

    def test_users_have_events_of_their_own(self) -> None:
        draft = EventDraft(kind=EventKind.NOTIFICATION, time=at(650))
        events = schedule.initial(
            a_lease(600, 700),
            [draft],
            prepares=schedule.Preparation.SHORTLY_BEFORE,
            now=NOW,
            settings=SETTINGS,
        )
        self.assertEqual([at(650)], [e.time for e in events if e.kind is EventKind.NOTIFICATION])


class TestRescheduled(base.TestCase):
    @hypothesis.given(starts, lengths, starts, lengths, offsets)
    def test_pending_lease_gets_what_a_new_one_would_have(
        self, start: int, length: int, later: int, other: int, wanted: tuple[int, ...]
    ) -> None:
        old = scheduled(a_lease(start, start + length, notify_before_start=wanted))
        new = to(old, later, later + other)
        fresh = scheduled(a_lease(later, later + other, notify_before_start=wanted))
        for kind in EventKind:
            expected = [(e.time, e.due) for e in of(fresh, kind)]
            self.assertEqual(expected, [(e.time, e.due) for e in of(new, kind)], kind)

    @hypothesis.given(starts, lengths, st.integers(0, 20000), starts, lengths)
    def test_what_happened_is_kept(
        self, start: int, length: int, elapsed: int, later: int, other: int
    ) -> None:
        past = notified(scheduled(a_lease(start, start + length)), elapsed)
        old = dataclasses.replace(
            past, status=LeaseStatus.ACTIVE if elapsed >= start else LeaseStatus.PENDING
        )
        after = {event.id: event for event in to(old, later, later + other, now=elapsed).events}
        for event in old.events:
            if event.state is EventState.DONE and event.kind is not EventKind.BEFORE_END:
                self.assertEqual(event, after[event.id])

    def test_same_dates_change_nothing(self) -> None:
        old = scheduled(a_lease(4000, 9000))
        self.assertEqual(old.events, to(old, 4000, 9000).events)

    def test_an_announcement_that_is_late_is_not_swallowed(self) -> None:
        old = scheduled(a_lease(400, 9000, notify_before_start=(300, 60)))
        new = to(old, 400, 9999, now=200)
        self.assertEqual(of(old, EventKind.BEFORE_START), of(new, EventKind.BEFORE_START))

    def test_other_announcements_are_wanted(self) -> None:
        old = scheduled(a_lease(400, 9000, notify_before_start=(300, 60)))
        new = to(old, 400, 9000, notify_before_start=(60, 30))
        self.assertEqual([at(340), at(370)], [e.time for e in of(new, EventKind.BEFORE_START)])

    def test_running_lease_is_not_announced_again(self) -> None:
        old = dataclasses.replace(
            notified(scheduled(a_lease(400, 9000)), 400), status=LeaseStatus.ACTIVE
        )
        new = to(old, 400, 9999, now=500)
        self.assertEqual(of(old, EventKind.BEFORE_START), of(new, EventKind.BEFORE_START))
        self.assertEqual(of(old, EventKind.START), of(new, EventKind.START))
        self.assertEqual([at(9999)], [e.due for e in of(new, EventKind.END)])

    def test_prolonged_after_the_warning_there_is_another(self) -> None:
        old = dataclasses.replace(
            notified(scheduled(a_lease(0, 4000)), 500), status=LeaseStatus.ACTIVE
        )
        (event,) = of(to(old, 0, 8000, now=500), EventKind.BEFORE_END)
        self.assert_has(event, due=at(4400), state=EventState.UNDONE, begun_at=None)

    def test_shortened_past_the_warning_there_is_none(self) -> None:
        old = dataclasses.replace(
            notified(scheduled(a_lease(0, 4000)), 500), status=LeaseStatus.ACTIVE
        )
        (event,) = of(to(old, 0, 3900, now=500), EventKind.BEFORE_END)
        self.assertIs(EventState.DONE, event.state)

    def test_a_warning_that_failed_gets_one_successor(self) -> None:
        old = dataclasses.replace(
            notified(scheduled(a_lease(0, 4000)), 500, EventState.ERROR), status=LeaseStatus.ACTIVE
        )
        new = to(old, 0, 8000, now=500)
        first, second = of(new, EventKind.BEFORE_END)
        self.assertEqual((EventState.ERROR, at(400)), (first.state, first.time))
        self.assertEqual((EventState.UNDONE, at(4400)), (second.state, second.time))
        self.assertEqual(1, len(of(to(old, 0, 4000, now=500), EventKind.BEFORE_END)))
        _, third = of(to(new, 0, 9000, now=500), EventKind.BEFORE_END)
        self.assertEqual((second.id, at(5400)), (third.id, third.time))

    def test_a_warning_in_progress_is_moved_itself(self) -> None:
        old = dataclasses.replace(
            notified(scheduled(a_lease(0, 4000)), 500, EventState.IN_PROGRESS),
            status=LeaseStatus.ACTIVE,
        )
        new = to(old, 0, 8000, now=500)
        (event,) = of(new, EventKind.BEFORE_END)
        self.assert_has(event, state=EventState.IN_PROGRESS, due=at(4400), begun_at=None)
        (event,) = of(to(new, 0, 4000, now=600), EventKind.BEFORE_END)
        self.assertEqual(at(400), event.due)

    def test_of_two_warnings_one_is_left(self) -> None:
        lease = dataclasses.replace(
            notified(scheduled(a_lease(0, 4000)), 500), status=LeaseStatus.ACTIVE
        )
        spare = schedule.new_event('l', EventKind.BEFORE_END, at(4400))
        lease = dataclasses.replace(lease, events=(*lease.events, spare))
        events = of(to(lease, 0, 12000, now=600), EventKind.BEFORE_END)
        self.assertEqual([at(400), at(8400)], [event.time for event in events])
        both = dataclasses.replace(
            lease, events=(*lease.events, schedule.new_event('l', EventKind.BEFORE_END, at(4500)))
        )
        events = of(to(both, 0, 12000, now=600), EventKind.BEFORE_END)
        self.assertEqual([at(400), at(8400)], [event.time for event in events])

    def test_what_a_preparation_has_begun_stays_known(self) -> None:
        past = notified(scheduled(a_lease(50, 4000)), 0, EventState.UNDONE)
        self.assertEqual([NOW], [e.begun_at for e in of(past, EventKind.PREPARE)])
        (event,) = of(to(past, 500, 4000), EventKind.PREPARE)
        self.assertEqual((at(440), NOW), (event.due, event.begun_at))

    def test_what_starts_now_is_not_prepared_later(self) -> None:
        lease = scheduled(a_lease(4000, 9000))
        self.assertEqual([at(3940)], [e.time for e in of(lease, EventKind.PREPARE)])
        self.assertEqual([], of(to(lease, 0, 5000), EventKind.PREPARE))

    @hypothesis.given(st.permutations([(100, 5000), (900, 9000), (2000, 2500)]))
    def test_many_changes_are_as_good_as_the_last(self, dates: list[tuple[int, int]]) -> None:
        lease = scheduled(a_lease(4000, 9000))
        for start, end in dates:
            lease = to(lease, start, end)
        fresh = scheduled(a_lease(*dates[-1]))
        for one, other in itertools.zip_longest(
            sorted((e.kind, e.due) for e in lease.events),
            sorted((e.kind, e.due) for e in fresh.events),
        ):
            self.assertEqual(one, other)
