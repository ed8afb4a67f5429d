# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import unittest
from collections.abc import Callable

from tests import base


def _report(test: Callable[[base.TestCase], None]) -> str:
    """Run a test that fails or skips; return what is reported of it."""

    class Reported(base.TestCase):
        def test_it(self) -> None:
            test(self)

    result = unittest.TestResult()
    Reported('test_it').run(result)
    return ''.join(text for _, text in result.failures + result.errors + result.skipped)


class TestVariables(base.TestCase):
    """A failure in a loop over a table names the row."""

    def test_each_loop(self) -> None:
        def test(case: base.TestCase) -> None:
            for number, (text, expected) in enumerate((('a', 1), ('b', 2), ('c', 3))):
                for times in (1, 2):
                    case.assertEqual(expected + number, len(text * times))

        self.assertRegex(
            _report(test),
            r"test_loops\.py:\d+: number = 0, text = 'a', expected = 1\n"
            r'.*test_loops\.py:\d+: times = 2\n',
        )

    def test_loop_that_is_over(self) -> None:
        def test(case: base.TestCase) -> None:
            for text in ('a', 'b'):
                case.assertTrue(text)
            case.assertEqual('a', 'b')

        self.assertNotIn('text =', _report(test))

    def test_loops_of_helpers(self) -> None:
        def check(case: base.TestCase, text: str) -> None:
            for letter in text:
                case.assertEqual('a', letter)

        def test(case: base.TestCase) -> None:
            for text in ('aa', 'ab'):
                check(case, text)

        self.assertRegex(_report(test), r"text = 'ab'\n.*letter = 'b'\n")

    def test_large_values_are_cut(self) -> None:
        def test(case: base.TestCase) -> None:
            for text in ('x' * 10_000,):
                case.assertEqual(1, len(text))

        self.assertRegex(_report(test), r"text = 'x{100,200}\.\.\.x{100,200}'\n")

    def test_skipped_test_stays_skipped(self) -> None:
        def test(case: base.TestCase) -> None:
            for reason in ('a', 'b'):
                case.skipTest(reason)

        self.assertEqual('a', _report(test))
