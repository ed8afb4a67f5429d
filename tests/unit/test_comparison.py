# SPDX-License-Identifier: Apache-2.0

"""The comparison with others names tests that are there."""

from __future__ import annotations

import importlib
import pathlib
import re
import unittest

from tests import base

_PAGE = pathlib.Path(__file__).parents[2] / 'doc/source/reference/comparison.rst'
_TEST = re.compile(r'``tests/(\S+)\.py::(\w+)\.(\w+)``')


class ComparisonTest(base.TestCase):
    def test_every_line_is_proven(self) -> None:
        text = _PAGE.read_text()
        named = _TEST.findall(text)
        lines = text.count('   * - ') - text.count('   * - Feature')
        self.assertEqual(lines, len(named))
        self.assertLess(30, lines)
        for path, name, method in named:
            found = getattr(importlib.import_module('tests.' + path.replace('/', '.')), name)
            self.assertTrue(issubclass(found, unittest.TestCase), (path, name))
            self.assertTrue(callable(getattr(found, method)), (path, name, method))
