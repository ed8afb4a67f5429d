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

"""What SQLite needs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Final

import sqlalchemy as sa

_OLDEST: Final = (3, 35)


def read(_connection: sa.Connection) -> tuple[int, ...]:
    """Return the version of the library."""
    return sqlite3.sqlite_version_info


def complaints(version: tuple[int, ...]) -> Iterator[str]:
    """Yield a sentence for each thing that it lacks."""
    if version < _OLDEST:
        found = '.'.join(map(str, version))
        yield f'SQLite {found} is too old: Climate needs {_OLDEST[0]}.{_OLDEST[1]} or later'


def connections(_version: tuple[int, ...]) -> int | None:
    """Return None: it has no limit."""
    return None
