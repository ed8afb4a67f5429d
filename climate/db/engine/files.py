# SPDX-License-Identifier: Apache-2.0

"""The files of SQLite databases, which may hold secrets: nothing for other users."""

from __future__ import annotations

import contextlib
import pathlib
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event


def create_for_owner(engine: sa.Engine) -> None:
    """Let *engine* create its file for its owner only.

    SQLite would create it as the umask says, often readable by all. Journals get the mode
    of the database.
    """

    @event.listens_for(engine, 'do_connect')
    def _create(_dialect: Any, _record: Any, arguments: list[Any], _options: Any) -> None:
        if path := _file(str(arguments[0]) if arguments else ''):
            # If it cannot be created, SQLite says why.
            with contextlib.suppress(OSError):
                path.touch(mode=0o600, exist_ok=False)


def close_to_others(engine: sa.Engine) -> None:
    """Take the rights of other users from the files of an SQLite database.

    Earlier releases created them as the umask said. The rights of the group stay.
    """
    if engine.dialect.name != 'sqlite' or (path := _file(engine.url.database or '')) is None:
        return
    for one in (path, *(path.with_name(f'{path.name}-{kind}') for kind in ('wal', 'shm'))):
        if one.exists() and one.stat().st_mode & 0o007:
            one.chmod(one.stat().st_mode & 0o770)


def _file(database: str) -> pathlib.Path | None:
    """Return the path of an SQLite database; None if it is in memory, or given as a URI."""
    if not database or database == ':memory:' or database.startswith('file:'):
        return None
    return pathlib.Path(database)
