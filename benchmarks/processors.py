# SPDX-License-Identifier: Apache-2.0

"""The processor time of this process and of the database, which other work does not affect."""

from __future__ import annotations

import pathlib
import time

import sqlalchemy as sa

# The ids that Linux uses for the threads or processes that serve the connections.
_MARIADB = 'SELECT tid FROM information_schema.processlist WHERE db = :name'
_THREADS = {
    'mysql': _MARIADB,
    'mariadb': _MARIADB,
    'postgresql': 'SELECT pid FROM pg_stat_activity WHERE datname = :name',
}


class ProcessorClock:
    """Counts the processor time of this process, and of the database's threads for it.

    Those of a database on another machine do not count.

    :param engine: the database, with all connections that it is going to use
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._threads = _threads(engine)

    def __call__(self) -> float:
        """Return the processor time so far, in seconds."""
        used = time.process_time()
        for thread in self._threads:
            used += int(thread.read_text().split()[0]) / 1e9
        return used


def _threads(engine: sa.Engine) -> list[pathlib.Path]:
    query = _THREADS.get(engine.dialect.name)
    if query is None:
        return []
    with engine.connect() as connection:
        found = connection.execute(sa.text(query), {'name': engine.url.database}).scalars().all()
    files = [pathlib.Path(f'/proc/{one}/schedstat') for one in found]
    return [file for file in files if file.exists()]
