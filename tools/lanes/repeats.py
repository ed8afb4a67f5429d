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
