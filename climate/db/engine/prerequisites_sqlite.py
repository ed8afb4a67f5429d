# SPDX-License-Identifier: Apache-2.0

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
        present = '.'.join(map(str, version))
        yield f'SQLite {present} is too old: Climate needs {_OLDEST[0]}.{_OLDEST[1]} or later'
