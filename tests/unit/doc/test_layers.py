# SPDX-License-Identifier: Apache-2.0

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
