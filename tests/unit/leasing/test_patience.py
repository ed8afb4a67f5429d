# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""How long effects are waited for."""

from __future__ import annotations

import dataclasses
import datetime

from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.lifecycles import EventState
from climate.leasing import patience
from climate.leasing import schedule
from climate.leasing.jobs import Report
from climate.leasing.jobs import Step
from climate.plugins.base import Again
from climate.plugins.base import Done
from tests import base

NOON = datetime.datetime(2030, 1, 1, 12, tzinfo=datetime.UTC)
MINUTE = datetime.timedelta(minutes=1)
HOUR = datetime.timedelta(hours=1)


def begun() -> Event:
    """Return an event that was taken up at noon."""
    event = patience.taken_up(schedule.new_event('l', EventKind.START, NOON), NOON, MINUTE)
    return dataclasses.replace(event, begun_at=NOON, state=EventState.IN_PROGRESS)


def tried(minutes: int) -> Event:
    """Return an event that was tried for so many minutes, one at a time."""
    event = begun()
    for minute in range(1, minutes + 1):
        event = patience.settled(event, NOON + minute * MINUTE, HOUR)
    return event


def waiting(*patiences: datetime.timedelta) -> Report:
    """Return a report of effects that wait."""
    steps = [
        Step(reservation_id=str(place), outcome=Again(after=MINUTE, patience=one))
        for place, one in enumerate(patiences)
    ]
    return Report(steps=(*steps, Step(reservation_id='done', outcome=Done())))


class TestPatience(base.TestCase):
    """The deadline, and what may take longer."""

    def test_what_says_nothing_is_waited_for_until_the_deadline(self) -> None:
        for minutes, late in ((1, False), (2, True)):
            report = waiting(datetime.timedelta(0))
            self.assertIs(late, patience.took_too_long(tried(minutes), report, 2 * MINUTE))

    def test_the_most_patient_counts(self) -> None:
        report = waiting(MINUTE, HOUR)
        for minutes, late in ((30, False), (60, True)):
            self.assertIs(late, patience.took_too_long(tried(minutes), report, MINUTE))

    def test_nothing_that_is_done_took_too_long(self) -> None:
        self.assertFalse(patience.took_too_long(tried(60), Report(), MINUTE))

    def test_failures_are_counted_from_when_all_was_well(self) -> None:
        self.assertTrue(patience.expired(tried(1), MINUTE))
        well = patience.well(tried(30), waiting(HOUR))
        self.assertFalse(patience.expired(well, MINUTE))
        well = patience.settled(well, NOON + 31 * MINUTE, HOUR)
        self.assertTrue(patience.expired(well, MINUTE))

    def test_what_says_nothing_is_not_well(self) -> None:
        event = tried(60)
        self.assertIs(event, patience.well(event, waiting(datetime.timedelta(0))))

    def test_what_has_not_begun_has_not_expired(self) -> None:
        self.assertFalse(patience.expired(schedule.new_event('l', EventKind.START, NOON), MINUTE))


class TestOutages(base.TestCase):
    """Time without tries does not count."""

    def assert_tried(self, minutes: float, event: Event) -> None:
        self.assertEqual(minutes * MINUTE, patience.tried(event))

    def test_pauses_count_as_planned(self) -> None:
        event = dataclasses.replace(tried(1), state=EventState.UNDONE, due=NOON + 3 * MINUTE)
        self.assert_tried(3, patience.taken_up(event, NOON + 3 * MINUTE, MINUTE))
        self.assert_tried(3, patience.taken_up(event, NOON + HOUR, MINUTE))
        self.assert_tried(2, patience.taken_up(event, NOON + 2 * MINUTE, MINUTE))

    def test_an_unfinished_try_counts_little(self) -> None:
        self.assert_tried(1, patience.taken_up(begun(), NOON + HOUR, MINUTE))
        self.assert_tried(0.5, patience.taken_up(begun(), NOON + MINUTE / 2, MINUTE))

    def test_a_manager_that_hung_leaves_tries(self) -> None:
        event = patience.settled(begun(), NOON + HOUR, 4 * MINUTE)
        self.assert_tried(1, event)
        self.assertFalse(patience.expired(event, 4 * MINUTE))

    def test_what_is_begun_again_is_counted_again(self) -> None:
        event = dataclasses.replace(tried(5), begun_at=None, state=EventState.UNDONE)
        self.assert_tried(0, patience.taken_up(event, NOON + HOUR, MINUTE))
        self.assert_tried(0, patience.forgotten(tried(5)))

    def test_a_clock_that_goes_back_counts_nothing(self) -> None:
        self.assert_tried(5, patience.settled(tried(5), NOON, HOUR))
