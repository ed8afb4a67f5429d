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
            module = importlib.import_module('tests.' + path.replace('/', '.'))
            found = getattr(module, name)
            self.assertTrue(issubclass(found, unittest.TestCase), (path, name))
            self.assertTrue(callable(getattr(found, method)), (path, name, method))
