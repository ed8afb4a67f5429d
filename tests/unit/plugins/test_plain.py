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

"""Values of requests as JSON has them."""

from __future__ import annotations

import enum

from climate.plugins import plain
from tests import base


class Colour(enum.StrEnum):
    """Words of a request."""

    RED = 'red'


class TestScalar(base.TestCase):
    """Which types JSON has as they are."""

    def test_these(self) -> None:
        for hint in (str, int, bool, float, str | None, int | str | None):
            self.assertTrue(plain.scalar(hint), hint)

    def test_not_these(self) -> None:
        for hint in (Colour, Colour | None, tuple[str, ...], dict[str, int], object):
            self.assertFalse(plain.scalar(hint), hint)

    def test_what_is_scalar_is_dumped_as_it_is(self) -> None:
        for value in ('', 'red', 0, 1, True, 0.5, None):
            self.assertIs(value, plain.dumped(value))
        self.assertEqual('red', plain.dumped(Colour.RED))
