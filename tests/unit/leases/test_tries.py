# SPDX-License-Identifier: Apache-2.0

"""How long effects are waited for."""

from __future__ import annotations

import dataclasses
import datetime

from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.lifecycles import EventState
from climate.leases import schedule
from climate.leases.jobs import EffectResult
from climate.leases.jobs import Report
from climate.plugins.contract import Again
from climate.plugins.contract import Done
from tests import base

NOON = datetime.datetime(2030, 1, 1, 12, tzinfo=datetime.UTC)
MINUTE = datetime.timedelta(minutes=1)
HOUR = datetime.timedelta(hours=1)


def begun() -> Event:
    """Return an event that was taken up at noon."""
    event = schedule.new_event('l', EventKind.START, NOON).taken_up(NOON, MINUTE)
    return dataclasses.replace(event, begun_at=NOON, state=EventState.IN_PROGRESS)


def tried(minutes: int) -> Event:
    """Return an event that was tried for so many minutes, one at a time."""
    event = begun()
    for minute in range(1, minutes + 1):
        event = event.settled(NOON + minute * MINUTE, HOUR)
    return event


def waiting(*patiences: datetime.timedelta) -> Report:
    """Return a report of effects that wait."""
    steps = [
        EffectResult(reservation_id=str(place), outcome=Again(after=MINUTE, time_limit=one))
        for place, one in enumerate(patiences)
    ]
    return Report(steps=(*steps, EffectResult(reservation_id='done', outcome=Done())))


class TestPatience(base.TestCase):
    """The deadline, and what may take longer."""

    def test_what_says_nothing_is_waited_for_until_the_deadline(self) -> None:
        for minutes, late in ((1, False), (2, True)):
            self.assertIs(late, waiting(datetime.timedelta(0)).overdue(tried(minutes), 2 * MINUTE))

    def test_the_most_patient_counts(self) -> None:
        report = waiting(MINUTE, HOUR)
        for minutes, late in ((30, False), (60, True)):
            self.assertIs(late, report.overdue(tried(minutes), MINUTE))

    def test_nothing_that_is_done_took_too_long(self) -> None:
        self.assertFalse(Report().overdue(tried(60), MINUTE))

    def test_failures_are_counted_from_when_all_was_well(self) -> None:
        self.assertTrue(tried(1).expired(MINUTE))
        well = waiting(HOUR).with_progress(tried(30))
        self.assertFalse(well.expired(MINUTE))
        well = well.settled(NOON + 31 * MINUTE, HOUR)
        self.assertTrue(well.expired(MINUTE))

    def test_what_says_nothing_is_not_well(self) -> None:
        event = tried(60)
        self.assertIs(event, waiting(datetime.timedelta(0)).with_progress(event))

    def test_what_has_not_begun_has_not_expired(self) -> None:
        self.assertFalse(schedule.new_event('l', EventKind.START, NOON).expired(MINUTE))


class TestOutages(base.TestCase):
    """Time without tries does not count."""

    def assert_tried(self, minutes: float, event: Event) -> None:
        self.assertEqual(minutes * MINUTE, event.tried)

    def test_pauses_count_as_planned(self) -> None:
        event = dataclasses.replace(tried(1), state=EventState.UNDONE, due=NOON + 3 * MINUTE)
        self.assert_tried(3, event.taken_up(NOON + 3 * MINUTE, MINUTE))
        self.assert_tried(3, event.taken_up(NOON + HOUR, MINUTE))
        self.assert_tried(2, event.taken_up(NOON + 2 * MINUTE, MINUTE))

    def test_an_unfinished_try_counts_little(self) -> None:
        self.assert_tried(1, begun().taken_up(NOON + HOUR, MINUTE))
        self.assert_tried(0.5, begun().taken_up(NOON + MINUTE / 2, MINUTE))

    def test_a_manager_that_hung_leaves_tries(self) -> None:
        event = begun().settled(NOON + HOUR, 4 * MINUTE)
        self.assert_tried(1, event)
        self.assertFalse(event.expired(4 * MINUTE))

    def test_what_is_begun_again_is_counted_again(self) -> None:
        event = dataclasses.replace(tried(5), begun_at=None, state=EventState.UNDONE)
        self.assert_tried(0, event.taken_up(NOON + HOUR, MINUTE))
        self.assert_tried(0, tried(5).untried())

    def test_a_clock_that_goes_back_counts_nothing(self) -> None:
        self.assert_tried(5, tried(5).settled(NOON, HOUR))
