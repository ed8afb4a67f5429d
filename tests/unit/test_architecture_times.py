# SPDX-License-Identifier: Apache-2.0

"""No test says how long something takes."""

from __future__ import annotations

import textwrap

from tests import architecture
from tests import base
from tests import stopwatches

WRONG = (
    'self.assertLess(time.monotonic() - before, 5)',
    'self.assertLessEqual(perf_counter() - before, LIMIT)',
    'self.assertGreater(5, time.time() - before)',
    'self.assertTrue(time.monotonic() - before < 5)',
    'assert time.monotonic() - before < 5',
    'self.assertThat(time.monotonic() - before, LessThan(5))',
    'took = time.monotonic() - before\nself.assertLess(took, 5)',
    'self.took = time.monotonic() - before\nself.assertLess(self.took, 2 * TIMEOUT + SLACK)',
)
RIGHT = (
    'self.assertGreaterEqual(time.monotonic() - before, 0.3)',
    'self.assertLess(time.monotonic(), deadline)',
    'one = other = time.monotonic() - before\nself.assertLess(one, other)',
    'self.assertLess(len(calls), 5)',
    'deadline = time.monotonic() + 5',
)


class StopwatchesTest(base.TestCase):
    """The check, and what it finds."""

    def complaints(self, text: str) -> list[str]:
        source = architecture.Source(path='tests/test_x.py', text=textwrap.dedent(text))
        return list(stopwatches.asserted_times(source))

    def test_what_is_wrong_is_found(self) -> None:
        for text in WRONG:
            self.assertEqual(1, len(self.complaints(text)), text)

    def test_what_is_right_is_left_alone(self) -> None:
        for text in RIGHT:
            self.assertEqual([], self.complaints(text), text)

    def test_no_test_asserts_a_time(self) -> None:
        found = [
            line
            for source in architecture.sources('tests')
            for line in stopwatches.asserted_times(source)
        ]
        self.assertEqual([], found)
