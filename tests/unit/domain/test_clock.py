# SPDX-License-Identifier: Apache-2.0

"""The clock that is moved by hand, and the one of the machine."""

from __future__ import annotations

import datetime

from climate import clock
from tests import base

NOON = datetime.datetime(2031, 1, 1, 12, tzinfo=datetime.UTC)


class ManualClockTest(base.TestCase):
    def test_it_stands_still_until_it_is_moved(self) -> None:
        manual = clock.ManualClock(NOON)
        self.assertEqual([NOON, NOON], [manual.now(), manual.now()])
        manual.advance(1.5)
        self.assertEqual(NOON + datetime.timedelta(seconds=1.5), manual.now())
        manual.move_to(NOON)
        self.assertEqual(NOON, manual.now())

    def test_it_returns_utc_whatever_zone_it_was_set_in(self) -> None:
        east = datetime.timezone(datetime.timedelta(hours=9))
        manual = clock.ManualClock(NOON.astimezone(east))
        self.assertEqual((NOON, datetime.UTC), (manual.now(), manual.now().tzinfo))
        manual.move_to((NOON + datetime.timedelta(hours=1)).astimezone(east))
        self.assertEqual(13, manual.now().hour)

    def test_naive_instants_are_refused(self) -> None:
        naive = NOON.replace(tzinfo=None)
        self.assertRaises(ValueError, clock.ManualClock, naive)
        self.assertRaises(ValueError, clock.ManualClock(NOON).move_to, naive)


class SystemClockTest(base.TestCase):
    def test_it_returns_utc(self) -> None:
        now = clock.SystemClock().now()
        self.assertEqual(datetime.UTC, now.tzinfo)
        self.assertGreater(now, datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC))

    def test_ticks_never_go_back(self) -> None:
        system = clock.SystemClock()
        ticks = [system.ticks() for _ in range(100)]
        self.assertEqual(sorted(ticks), ticks)

    def test_ticks_of_a_manual_clock_are_moved_with_it(self) -> None:
        manual = clock.ManualClock(NOON)
        first = manual.ticks()
        manual.advance(7.5)
        self.assertEqual(7.5, manual.ticks() - first)
