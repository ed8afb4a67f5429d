# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import threading

from climate import exceptions
from climate.api.http import waits
from climate.api.http.waits import Waits
from tests import base

PREFERENCES = {
    'wait=10': 10,
    'respond-async, WAIT=10': 10,
    ' wait = 10 ': 10,
    'wait="10"': 10,
    'wait=10; foo="bar"': 10,
    'wait=1, wait=2': 1,
    'wait=x, wait=2': 2,
    'wait=007': 7,
    f'wait={"9" * 5000}': 10**9,
    'wait=0': 0,
    'wait': 0,
    'wait=': 0,
    'wait=-1': 0,
    'wait=1.5': 0,
    'wait=٣': 0,
    'waiting=10': 0,
    'return=minimal': 0,
    '': 0,
    ',;=': 0,
}


class PreferTest(base.TestCase):
    """Prefer: wait=N; what cannot be read is ignored."""

    def test_seconds(self) -> None:
        self.assertEqual(PREFERENCES, {text: waits.seconds(text) for text in PREFERENCES})


class Pauses:
    """A clock that moves when a request sleeps."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def pause(self, seconds: float) -> None:
        """Sleep."""
        self.slept.append(seconds)

    def ticks(self) -> float:
        """Return the time."""
        return sum(self.slept)


class WaitsTest(base.TestCase):
    """Who waits for how long."""

    def setUp(self) -> None:
        super().setUp()
        self.pauses = Pauses()

    def waits(self, most: int) -> Waits:
        return Waits(30, most, self.pauses.pause, self.pauses.ticks)

    def test_no_longer_than_needed(self) -> None:
        answers = iter((False, False, True))
        self.assertIs(True, self.waits(1).wait(30, lambda: next(answers)))
        self.assertEqual(2, len(self.pauses.slept))

    def test_what_is_settled_takes_no_time(self) -> None:
        self.assertIs(True, self.waits(1).wait(30, lambda: True))
        self.assertEqual([], self.pauses.slept)

    def test_until_the_time_is_over(self) -> None:
        asked: list[float] = []
        self.assertIs(
            False, self.waits(1).wait(30, lambda: bool(asked.append(self.pauses.ticks())))
        )
        self.assertAlmostEqual(30, self.pauses.ticks())
        self.assertAlmostEqual(30, asked[-1])
        # Less than two questions a second.
        self.assertLess(len(asked), 40)
        self.assertLessEqual(max(self.pauses.slept), 1)

    def test_few_wait_at_once(self) -> None:
        allowed = self.waits(2)
        second: list[bool | None] = []

        def wait_again() -> bool:
            if len(second) < 2:
                project_id = f'project-{len(second)}'
                second.append(None)
                second[-1:] = [allowed.wait(1, wait_again, project_id)]
            return True

        self.assertIs(True, allowed.wait(1, wait_again))
        self.assertEqual({None, True}, set(second))
        self.assertIs(True, allowed.wait(1, lambda: True))

    def test_one_project_leaves_room_for_others(self) -> None:
        allowed = self.waits(4)
        found: list[bool | None] = []

        def third() -> bool:
            found.append(allowed.wait(1, lambda: True, 'red'))
            found.append(allowed.wait(1, lambda: True, 'blue'))
            return True

        def second() -> bool:
            return bool(allowed.wait(1, third, 'red'))

        self.assertIs(True, allowed.wait(1, second, 'red'))
        self.assertEqual([None, True], found)
        self.assertIs(True, allowed.wait(1, lambda: True, 'red'))

    def test_none_may(self) -> None:
        self.assertIsNone(self.waits(0).wait(1, lambda: True))

    def test_one_that_fails_leaves_room(self) -> None:
        allowed = self.waits(1)

        def fail() -> bool:
            raise OSError

        self.assertRaises(OSError, allowed.wait, 1, fail)
        self.assertIs(True, allowed.wait(1, lambda: True))

    def test_an_outage_ends_it(self) -> None:
        allowed = self.waits(1)

        def fail() -> bool:
            raise exceptions.DatabaseUnavailable

        self.assertIsNone(allowed.wait(1, fail))
        self.assertIs(True, allowed.wait(1, lambda: True))

    def test_threads(self) -> None:
        allowed = self.waits(1)
        inside, done = threading.Event(), threading.Event()

        def settled() -> bool:
            inside.set()
            return done.wait(60)

        thread = threading.Thread(target=allowed.wait, args=(30, settled))
        thread.start()
        self.assertTrue(inside.wait(60))
        self.assertIsNone(allowed.wait(30, lambda: True))
        done.set()
        thread.join(60)
        self.assertIs(True, allowed.wait(30, lambda: True))
