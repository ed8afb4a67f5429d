# SPDX-License-Identifier: Apache-2.0

"""Threads that repeat a step, and calls in threads that begin together."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import fixtures

from climate.threads import RepeatingThread
from tests import base
from tests.threads import together

SOON = 10.0


class TestRepeatingThread(base.TestCase):
    """A step is repeated after its pause, when woken, and until the end."""

    def setUp(self) -> None:
        super().setUp()
        self.steps = threading.Semaphore(0)
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.ERROR))

    def repeating(
        self, pause: Callable[[], float | None], retry: float | None = None
    ) -> RepeatingThread:
        def step() -> float | None:
            self.steps.release()
            return pause()

        thread = RepeatingThread('test', step, failure='The step failed', retry=retry)
        self.addCleanup(thread.stop, SOON)
        return thread

    def assert_steps(self, count: int) -> None:
        for _ in range(count):
            self.assertTrue(self.steps.acquire(timeout=SOON))

    def test_a_step_is_repeated_after_its_pause(self) -> None:
        self.repeating(lambda: 0.001).start()
        self.assert_steps(5)

    def test_a_thread_without_a_pause_waits_to_be_woken(self) -> None:
        thread = self.repeating(lambda: None)
        thread.start()
        self.assert_steps(1)
        self.assertFalse(self.steps.acquire(timeout=0.05))
        thread.wake()
        self.assert_steps(1)

    def test_a_wake_up_during_a_step_is_not_lost(self) -> None:
        pauses = iter([0.0])

        def pause() -> float | None:
            if next(pauses, None) is not None:
                thread.wake()
            return None

        thread = self.repeating(pause)
        thread.start()
        self.assert_steps(2)

    def test_a_step_that_fails_is_logged_and_repeated(self) -> None:
        def pause() -> float:
            raise KeyError('x')

        self.repeating(pause, retry=0.001).start()
        self.assert_steps(3)
        self.assertIn('The step failed', self.log.output)

    def test_it_ends_although_it_sleeps(self) -> None:
        thread = self.repeating(lambda: 3600.0)
        thread.start()
        self.assert_steps(1)
        thread.stop(SOON)
        self.assertTrue(thread.stopping)
        self.assertFalse(thread.is_alive())

    def test_a_step_that_rests_is_not_woken_but_ended(self) -> None:
        def pause() -> float:
            thread.rest(3600.0)
            return 0.0

        thread = self.repeating(pause)
        thread.start()
        self.assert_steps(1)
        thread.wake()
        self.assertFalse(self.steps.acquire(timeout=0.05))
        thread.stop(SOON)
        self.assertFalse(thread.is_alive())

    def test_one_that_never_began_can_be_stopped(self) -> None:
        thread = self.repeating(lambda: None)
        thread.stop(SOON)
        self.assertFalse(thread.is_alive())


class TestTogether(base.TestCase):
    """Calls begin together, and a test fails if one of them hangs."""

    def test_results_have_the_order_of_the_arguments(self) -> None:
        met = threading.Barrier(3)

        def meet(number: int) -> int:
            met.wait(SOON)
            return 2 * number

        self.assertEqual([6, 2, 4], together(meet, [3, 1, 2]))

    def test_an_error_of_a_call_is_raised(self) -> None:
        with self.assertRaisesRegex(ZeroDivisionError, 'division by zero'):
            together(lambda number: 1 / number, [1, 0])

    def test_a_call_that_hangs_is_named(self) -> None:
        end = threading.Event()
        self.addCleanup(end.set)
        calls = {'first': lambda: None, 'second': lambda: end.wait(SOON)}
        with self.assertRaisesRegex(
            AssertionError, r"1 of 2 calls have not ended after 0\.1 s: \['second'\]"
        ):
            together(lambda name: calls[name](), calls, seconds=0.1)
