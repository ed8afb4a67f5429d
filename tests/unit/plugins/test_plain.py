# SPDX-License-Identifier: Apache-2.0

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
