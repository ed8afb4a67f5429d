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

"""Which tests are of a resource type whose code was changed lately."""

from __future__ import annotations

import configparser
import pathlib
import subprocess
from collections.abc import Iterable
from collections.abc import Mapping

from tests import architecture
from tests.exhaustive import types

PACKAGE = 'climate.plugins'
# As many commits as there are parts of the exhaustive lane in a check.
LAST = 4
# A change of what more types share is no change of a type: the parts that the
# next checks run have all of them.
MOST_TYPES = 3
_MAIN = 'origin/HEAD'


def base(root: pathlib.Path) -> str:
    """Return the commit since which changes are looked for.

    It is the one where a branch left ``origin/HEAD``; on that branch itself the
    fourth last commit, or the first that the clone has.
    """
    for name in (_MAIN, f'HEAD~{LAST}'):
        found = _git(root, 'merge-base', 'HEAD', name)
        if found and found != _git(root, 'rev-parse', 'HEAD'):
            return found
    return _git(root, 'rev-list', '--max-parents=0', 'HEAD').split('\n')[0]


def changed(root: pathlib.Path, since: str) -> set[str]:
    """Return the files changed since a commit, in the working tree too."""
    return set(_git(root, 'diff', '--name-only', since).split())


def _git(root: pathlib.Path, *arguments: str) -> str:
    found = subprocess.run(
        ['git', *arguments], cwd=root, capture_output=True, text=True, check=False
    )
    return found.stdout.strip() if found.returncode == 0 else ''


def code() -> Mapping[str, frozenset[str]]:
    """Return the files of each resource type: its plugin, and what that imports of plugins."""
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
    """Return the module of each type's plugin."""
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
    """Return the types whose code one of these files is."""
    changes = set(paths)
    return {resource_type for resource_type, code in files.items() if code & changes}


def tests_of(found: set[str], ids: Iterable[str]) -> list[str]:
    """Return the tests that book one of these types, by their names; none of too many types."""
    if len(found) > MOST_TYPES:
        return []
    words = [name for name, booked in types.OF_KINDS.items() if booked & found]
    return [name for name in ids if any(_has(name.rpartition('.')[2], each) for each in words)]


def _has(name: str, words: str) -> bool:
    return f'_{words}_' in f'{name}_'
