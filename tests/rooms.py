# SPDX-License-Identifier: Apache-2.0

"""The rooms of large packages: which ones there are, and the rules that they obey.

A room is a subpackage, or a module that is in none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests import architecture
from tests.architecture import Source

# The lowest line first. A room imports only rooms on lower lines.
ROOMS = {
    'climate.db': (
        ('encryption', 'schema'),
        ('engine',),
        ('statements',),
        ('processes', 'resources'),
        ('leases', 'search'),
        ('booking', 'messages', 'reports'),
        ('timelines',),
        ('transactions',),
        ('administration', 'batches', 'migrations'),
    ),
    'climate.booking': (
        ('requests',),
        ('choosing',),
        ('writing',),
        ('offers',),
        ('planning',),
        ('leases',),
    ),
    'climate.api': (
        ('http',),
        ('limits', 'views'),
        ('errors',),
        ('path_ids',),
        ('schemas',),
        ('authentication',),
        ('routing',),
        ('middleware',),
        ('controllers', 'openapi'),
        ('app',),
    ),
    'climate.manager': (
        ('running',),
        ('claims', 'default_leases'),
        ('periodic', 'senders'),
        ('service',),
    ),
}

LONGEST_MAP = 10
_FIRST = re.compile(r'Start with ``(\w+)``')
_IMPORTS = re.compile(r'Imports (no other room|``[^.]+)\.')


def room(module: str, package: str) -> str:
    """Return the room of a module; '' if it is not in *package*."""
    rest = module.removeprefix(f'{package}.')
    return '' if rest == module else rest.split('.')[0]


def levels(package: str) -> dict[str, int]:
    """Return the line of each room of *package*, the lowest is 0."""
    return {name: number for number, names in enumerate(ROOMS[package]) for name in names}


def upward_arrows(source: Source) -> Iterator[str]:
    """Complain about imports of a room that is not on a lower line."""
    for package in ROOMS:
        own, level = room(source.module, package), levels(package)
        if not own:
            continue
        if own not in level:
            yield f'{source.path}: {own} is in no line of {package}'
            continue
        for line, name in architecture.imports(source):
            other = room(name, package)
            if other != own and level.get(other, -1) >= level[own]:
                yield f'{source.path}:{line}: {own} must not import {name}'


def imported(package: str, name: str) -> set[str]:
    """Return the rooms that a room imports."""
    folder = f'{package}.{name}'.replace('.', '/')
    found = {
        room(target, package)
        for source in architecture.sources(folder)
        for _, target in architecture.imports(source)
    }
    return found & levels(package).keys() - {name}


def wrong_maps(source: Source) -> Iterator[str]:
    """Complain about the map of a room that is missing, too long, or not true."""
    package, _, name = source.module.rpartition('.')
    if package not in ROOMS or not source.path.endswith('/__init__.py'):
        return
    text = ast.get_docstring(source.tree) or ''
    if len(text.splitlines()) > LONGEST_MAP:
        yield f'{source.path}: more than {LONGEST_MAP} lines'
    first = _FIRST.search(text)
    folder = architecture.ROOT / source.path.removesuffix('/__init__.py')
    if first is None or not (folder / f'{first[1]}.py').is_file():
        yield f'{source.path}: does not say where to start'
    said = _IMPORTS.search(text)
    names = set(re.findall(r'``(\w+)``', said[1])) if said else None
    if names != imported(package, name):
        yield f'{source.path}: imports {sorted(imported(package, name))}'
