# SPDX-License-Identifier: Apache-2.0

"""Waiting for a condition: it ends when it is true, and not later than said."""

from __future__ import annotations

import fixtures

from tests import base
from tests.waiting import until


class TestUntil(base.TestCase):
    """The helper that every test of something slow rests on."""

    def test_what_is_true_is_returned_at_once(self) -> None:
        self.useFixture(fixtures.MonkeyPatch('tests.waiting.time.sleep', self.fail))
        self.assertEqual('yes', until(lambda: 'yes', 60, 'nothing'))

    def test_it_asks_until_it_is_true(self) -> None:
        answers = iter((None, 0, 5))
        self.assertEqual(5, until(lambda: next(answers), 60, 'a number'))

    def test_it_asks_once_more_when_the_time_is_over(self) -> None:
        answers = iter((0, 5))
        self.assertEqual(5, until(lambda: next(answers), 0.01, 'a number'))

    def test_it_names_what_did_not_come(self) -> None:
        error = self.assertRaises(AssertionError, until, lambda: (), 0.1, 'the server is gone')
        self.assertIn('the server is gone', str(error))
        self.assertIn('()', str(error))
