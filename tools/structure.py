# SPDX-License-Identifier: Apache-2.0

"""Counts the units of a package, the layers that they form, and the imports between them.

A unit is a module of the package, or a subpackage with all its modules. Imports count
once for each pair of units. The layer of a unit is one more than the highest layer that
it imports. Units in an import cycle have no layer; the program prints the cycle and
fails.
"""

from __future__ import annotations

import argparse
import graphlib
import sys
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence

from tests import architecture


def unit_of(module: str, package: str) -> str:
    """Return the unit that a module belongs to; '' if it is not in the package."""
    prefix = f'{package}.'
    return module.removeprefix(prefix).split('.')[0] if module.startswith(prefix) else ''


def imports_between(package: str) -> dict[str, set[str]]:
    """Return the units that each unit of *package* imports.

    :raises ValueError: if there is no such package
    """
    sources = architecture.sources(package.replace('.', '/'))
    found: dict[str, set[str]] = {}
    for source in sources:
        unit = unit_of(source.module, package)
        if unit:
            found.setdefault(unit, set())
    if not found:
        raise ValueError(f'there is no package {package}')
    for source in sources:
        unit = unit_of(source.module, package)
        for _, name in architecture.imports(source):
            other = unit_of(name, package)
            if unit and other in found and other != unit:
                found[unit].add(other)
    return found


def layers(imports: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Return the units by layer, the lowest first.

    :raises graphlib.CycleError: if there is an import cycle
    """
    height: dict[str, int] = {}
    for unit in graphlib.TopologicalSorter(imports).static_order():
        height[unit] = 1 + max((height[other] for other in imports[unit]), default=-1)
    return [
        sorted(unit for unit, at in height.items() if at == layer)
        for layer in range(max(height.values()) + 1)
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures of the given packages; return the exit status."""
    parser = argparse.ArgumentParser(prog='python -m tools.structure', description=__doc__)
    parser.add_argument('packages', nargs='*', default=['climate', 'climate.plugins'])
    arguments = parser.parse_args(argv)
    for package in arguments.packages:
        try:
            imports = imports_between(package)
            found = layers(imports)
        except (ValueError, graphlib.CycleError) as error:
            print(f'structure: {error}', file=sys.stderr)
            return 2
        arrows = sum(len(others) for others in imports.values())
        print(f'{package}: {len(imports)} units in {len(found)} layers, {arrows} imports between')
        for number, units in reversed(list(enumerate(found))):
            print(f'  {number}  {" ".join(units)}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
