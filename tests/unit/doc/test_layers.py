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

"""The table of layers has every unit, at its level."""

from __future__ import annotations

import importlib.util

import testtools

from tests import architecture
from tests import base


@testtools.skipUnless(importlib.util.find_spec('sphinx'), 'make docs installs Sphinx')
class LayersTest(base.TestCase):
    def test_each_unit_has_a_row_with_its_purpose(self) -> None:
        from doc.ext import layers

        table = layers.rst_table()
        self.assertEqual(1 + len(architecture.LEVELS), table.count('   * - '))
        for unit in architecture.LEVELS:
            purpose = layers.purpose(unit)
            self.assertTrue(purpose, f'{unit} has no docstring')
            self.assertIn(f'     - ``{unit}``\n     - {purpose}\n', table)
        self.assertLess(table.index('``api``'), table.index('``domain``'))
