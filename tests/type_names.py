# SPDX-License-Identifier: Apache-2.0

"""The rule that only plugins name a resource type; see :mod:`tests.architecture`."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

from tests.architecture import imports
from tests.architecture import ROOT
from tests.architecture import Source

# The units that may name a resource type: the types themselves, the simulated cloud and
# the tests for them; and migrations, which know the rows of their time.
TYPE_UNITS = {'plugins', 'simulator', 'testing'}
MIGRATIONS = 'climate/db/migrations/'
# Other modules that name one, each with the reason.
NAMES_TYPES = {
    'climate/client/osc/availability.py': 'its help shows an example',
    'climate/client/nouns.py': 'tables show nouns without a request for those of the service',
    'climate/client/osc/calendars.py': 'its option --hosts is named after the type',
    'climate/client/osc/deletion.py': 'the servers on whole hosts are lost with their lease',
    'climate/client/osc/names.py': 'only some types have fields that are ids of the cloud',
    'climate/client/reservations.py': 'its options are named after the types',
    'climate/conf/plugins.py': 'operators read in the sample what is served by default',
    'climate/cmd/samples.py': 'a first look shows an example of each type',
    'climate/manager/default_leases/booted_servers.py': 'only servers get leases by being booted',
    'climate/manager/default_leases/server_lease_settings.py': (
        'only servers get leases by being booted'
    ),
}


@functools.cache
def _types() -> tuple[re.Pattern[str], tuple[str, ...]]:
    """Return a pattern of the names of resource types, and their packages."""
    setup = (ROOT / 'setup.cfg').read_text(encoding='utf-8')
    # The type ``network`` has the name of the service, so only its package can be found.
    names = re.findall(r'^    (\w+:\w+) = climate\.plugins\.', setup, re.MULTILINE)
    packages = re.findall(r' = (climate\.plugins\.\w+)\.\w+:', setup)
    return re.compile('|'.join(names)), tuple(sorted({f'{each}.' for each in packages}))


def _texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and value of every string in the code, except docstrings."""
    aside = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in aside:
            yield node.lineno, node.value


def named_types(source: Source) -> Iterator[str]:
    """Complain about a resource type that is named outside the plugins."""
    if source.unit in TYPE_UNITS or source.path.startswith(MIGRATIONS):
        return
    if source.path in NAMES_TYPES:
        return
    names, packages = _types()
    for line, name in imports(source):
        if f'{name}.'.startswith(packages):
            yield f'{source.path}:{line}: {name} is of one type'
    for line, text in _texts(source.tree):
        if found := names.search(text):
            yield f'{source.path}:{line}: names the type {found.group()}'
