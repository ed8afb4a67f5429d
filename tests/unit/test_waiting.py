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

"""Waiting for a condition: it ends when it is true, and not later than said."""

from __future__ import annotations

import fixtures
import testtools

from tests.waiting import until


class TestUntil(testtools.TestCase):
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

    def test_it_tells_what_did_not_come(self) -> None:
        error = self.assertRaises(AssertionError, until, lambda: (), 0.1, 'the server is gone')
        self.assertIn('the server is gone', str(error))
        self.assertIn('()', str(error))
