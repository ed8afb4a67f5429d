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
    """Return an event that was begun at noon."""
    return dataclasses.replace(schedule.new_event('l', EventKind.START, NOON), begun_at=NOON)


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
        for later, late in ((MINUTE, False), (2 * MINUTE, True)):
            report = waiting(datetime.timedelta(0))
            self.assertIs(late, patience.took_too_long(begun(), report, NOON + later, 2 * MINUTE))

    def test_the_most_patient_counts(self) -> None:
        report = waiting(MINUTE, HOUR)
        for later, late in ((30 * MINUTE, False), (HOUR, True)):
            self.assertIs(late, patience.took_too_long(begun(), report, NOON + later, MINUTE))

    def test_nothing_that_is_done_took_too_long(self) -> None:
        self.assertFalse(patience.took_too_long(begun(), Report(), NOON + HOUR, MINUTE))

    def test_failures_are_counted_from_when_all_was_well(self) -> None:
        self.assertTrue(patience.expired(begun(), NOON + MINUTE, MINUTE))
        well = patience.well(begun(), waiting(HOUR), NOON + 30 * MINUTE)
        self.assertFalse(patience.expired(well, NOON + 30 * MINUTE, MINUTE))
        self.assertTrue(patience.expired(well, NOON + 31 * MINUTE, MINUTE))

    def test_what_says_nothing_is_not_well(self) -> None:
        event = begun()
        self.assertIs(event, patience.well(event, waiting(datetime.timedelta(0)), NOON + HOUR))

    def test_what_has_not_begun_has_not_expired(self) -> None:
        event = dataclasses.replace(begun(), begun_at=None)
        self.assertFalse(patience.expired(event, NOON + HOUR, MINUTE))
