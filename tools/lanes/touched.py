# SPDX-License-Identifier: Apache-2.0

"""Selects the tests of resource types whose code was changed recently."""

from __future__ import annotations

import configparser
import pathlib
import subprocess
from collections.abc import Iterable
from collections.abc import Mapping

from tests import architecture
from tests.exhaustive import types

PACKAGE = 'climate.plugins'
# The number of commits to look back: as many as the exhaustive lane has shards in CI.
LAST = 4
# A change of code that more types share selects no tests, because the shards of the next
# CI runs cover all types.
MOST_TYPES = 3
_MAIN = 'origin/HEAD'


def base(root: pathlib.Path) -> str:
    """Return the commit after which changes count.

    On a branch, it is the one where the branch left ``origin/HEAD``. On that branch
    itself, it is the fourth commit before the last, or the first one of the clone.
    """
    for name in (_MAIN, f'HEAD~{LAST}'):
        found = _git(root, 'merge-base', 'HEAD', name)
        if found and found != _git(root, 'rev-parse', 'HEAD'):
            return found
    return _git(root, 'rev-list', '--max-parents=0', 'HEAD').split('\n')[0]


def changed(root: pathlib.Path, since: str) -> set[str]:
    """Return the files changed since a commit, including the working tree."""
    return set(_git(root, 'diff', '--name-only', since).split())


def _git(root: pathlib.Path, *arguments: str) -> str:
    found = subprocess.run(
        ['git', *arguments], cwd=root, capture_output=True, text=True, check=False
    )
    return found.stdout.strip() if found.returncode == 0 else ''


def code() -> Mapping[str, frozenset[str]]:
    """Return the files of each resource type: its plugin, and the plugin code it imports."""
    sources = {each.module: each for each in architecture.sources('climate/plugins')}
    imported = {
        module: {
            name if name in sources else name.rpartition('.')[0]
            for _, name in architecture.imports(source)
            if name.startswith(f'{PACKAGE}.')
        }
        for module, source in sources.items()
    }
    return {
        resource_type: frozenset(
            sources[module].path for module in _reached(place, imported) if module in sources
        )
        for resource_type, place in _places().items()
    }


def _places() -> dict[str, str]:
    """Return the module of the plugin of each type."""
    parser = configparser.ConfigParser(delimiters=('=',))
    parser.read(architecture.ROOT / 'setup.cfg')
    lines = parser['entry_points']['climate.resource_types'].split('\n')
    pairs = (line.split('=') for line in lines if line)
    found = {name.strip(): place.split(':')[0].strip() for name, place in pairs}
    return {**found, types.DECLARED: types.DECLARED}


def _reached(module: str, imported: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    left = [module]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left.extend(imported.get(name, ()))
    return found


def touched(paths: Iterable[str], files: Mapping[str, frozenset[str]]) -> set[str]:
    """Return the types whose code includes one of the paths."""
    changes = set(paths)
    return {resource_type for resource_type, code in files.items() if code & changes}


def tests_of(found: set[str], ids: Iterable[str]) -> list[str]:
    """Return the tests whose names say that they book one of a few types.

    If there are more than :data:`MOST_TYPES` types, the list is empty.
    """
    if len(found) > MOST_TYPES:
        return []
    words = [name for name, booked in types.OF_KINDS.items() if booked & found]
    return [name for name in ids if any(_has(name.rpartition('.')[2], each) for each in words)]


def _has(name: str, words: str) -> bool:
    return f'_{words}_' in f'{name}_'
