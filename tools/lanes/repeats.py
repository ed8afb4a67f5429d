# SPDX-License-Identifier: Apache-2.0

"""Finds the tests that only repeat, on a database server, what another test does on SQLite."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Iterator

_CLASS = re.compile(r'(?P<stem>.+\.\w+?)(?:On)?(?:Mariadb|Postgresql)(?P<method>\.\w+)')
_REQUEST = re.compile(r'(?P<stem>.+\.test_gabbits)\.(?:mysql|postgresql)(?P<method>\..+)')


def repeats(ids: Iterable[str]) -> set[str]:
    """Return the tests on MariaDB or PostgreSQL whose counterpart on SQLite is among *ids*.

    The counterpart is in the same module. Its class has the same name with ``Sqlite`` as
    the engine, or without an engine.
    """
    known = set(ids)
    return {name for name in known if any(other in known for other in _counterparts(name))}


def _counterparts(name: str) -> Iterator[str]:
    """Yield what the test may be called on SQLite."""
    if found := _REQUEST.fullmatch(name):
        yield found['stem'] + found['method']
    elif found := _CLASS.fullmatch(name):
        for engine in ('', 'Sqlite', 'OnSqlite'):
            yield found['stem'] + engine + found['method']
