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

"""The base class of all test cases."""

from __future__ import annotations

import os
import unittest

import fixtures
import hypothesis
import testtools

from tests import generations

# No deadline, so that tests do not fail on a busy machine. No database of examples, so
# that a run does not depend on earlier ones. With CI set, as in .ci/run, the examples are
# the same in each run, so that a check fails because of the change that it checks.
hypothesis.settings.register_profile(
    'climate',
    deadline=None,
    database=None,
    derandomize=bool(os.environ.get('CI')),
    max_examples=50,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile('climate')


class TestCase(testtools.TestCase):
    """The base class of all test cases; importing it configures hypothesis.

    The log of a test is shown only if this test fails. A functional test also fails if a
    transaction of the service changes what is free without announcing it.
    """

    def setUp(self) -> None:
        super().setUp()
        self.useFixture(
            fixtures.FakeLogger(
                level=None, format='%(levelname)s %(name)s: %(message)s', nuke_handlers=False
            )
        )
        self.addCleanup(self._check_generations)

    def useFixture(self, fixture: fixtures.Fixture) -> fixtures.Fixture:
        """Use a fixture; skip the test if another fixture that it uses skips it.

        Fixtures wrap the exceptions of those they use, which would make a skip an error.
        """
        try:
            return super().useFixture(fixture)
        except Exception as error:
            cause: BaseException | None = error
            while cause is not None:
                if isinstance(cause, unittest.SkipTest):
                    raise cause from None
                cause = cause.__context__
            raise

    def _check_generations(self) -> None:
        self.assertEqual([], generations.taken(), 'written without raising a generation')
