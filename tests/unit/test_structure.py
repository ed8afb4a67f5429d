# SPDX-License-Identifier: Apache-2.0

"""The packages of Climate have layers, and so have the resource types."""

from __future__ import annotations

import contextlib
import graphlib
import io

from tests import base
from tools import structure


class TestLayers(base.TestCase):
    """What imports what, without a circle."""

    def test_packages(self) -> None:
        for package in ('climate', 'climate.plugins', 'climate.booking', 'climate.manager.running'):
            imports = structure.imports_between(package)
            found = structure.layers(imports)
            height = {unit: at for at, units in enumerate(found) for unit in units}
            self.assertEqual(set(imports), set(height))
            for unit, others in imports.items():
                for other in others:
                    self.assertGreater(height[unit], height[other], (unit, other))

    def test_types_build_on_each_other_in_one_order(self) -> None:
        imports = structure.imports_between('climate.plugins')
        self.assertIn('instance', imports['server'])
        self.assertIn('host', imports['instance'])
        self.assertNotIn('instance', imports['host'])

    def test_a_circle(self) -> None:
        circle = {'a': {'b'}, 'b': {'c'}, 'c': {'a'}}
        self.assertRaises(graphlib.CycleError, structure.layers, circle)

    def test_layers(self) -> None:
        imports = {'roof': {'wall', 'floor'}, 'wall': {'floor'}, 'floor': set(), 'door': {'floor'}}
        self.assertEqual([['floor'], ['door', 'wall'], ['roof']], structure.layers(imports))

    def test_the_command(self) -> None:
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            self.assertEqual(0, structure.main(['climate.plugins']))
            self.assertEqual(2, structure.main(['climate.nothing']))
        self.assertRegex(said.getvalue(), r'climate.plugins: \d+ units in \d+ layers')
        self.assertIn('there is no package climate.nothing', said.getvalue())
