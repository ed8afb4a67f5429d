# SPDX-License-Identifier: Apache-2.0

"""What a database needs, before tables are made and when operators ask."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any
from typing import Final

import sqlalchemy as sa

from climate import exceptions
from climate.db.engine import prerequisites_mariadb
from climate.db.engine import prerequisites_postgresql
from climate.db.engine import prerequisites_sqlite

PROCESSES: Final = 4
"""Two workers of the API and two managers, as on the install page."""

_ENGINES: Final[dict[str, Any]] = {
    'mysql': prerequisites_mariadb,
    'mariadb': prerequisites_mariadb,
    'postgresql': prerequisites_postgresql,
    'sqlite': prerequisites_sqlite,
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Shortcomings:
    """What a database lacks, a sentence each.

    :ivar fatal: without which Climate does not work
    :ivar minor: without which it works for a while, or on a small cloud
    """

    fatal: tuple[str, ...]
    minor: tuple[str, ...]


def find(connection: sa.Connection, conf: Any) -> Shortcomings:
    """Return what a database lacks.

    :param conf: the group ``[database]``
    """
    engine = _ENGINES[connection.dialect.name]
    facts = engine.read(connection)
    return Shortcomings(
        fatal=tuple(engine.complaints(facts)),
        # SQLite has no limit.
        minor=tuple(_few(getattr(facts, 'accepted', None), conf)),
    )


def require(connection: sa.Connection, conf: Any) -> Shortcomings:
    """Return what a database lacks, if it can have the tables.

    :raises climate.exceptions.ConfigurationError: if it cannot
    """
    shortcomings = find(connection, conf)
    if shortcomings.fatal:
        raise exceptions.ConfigurationError('; '.join(shortcomings.fatal))
    return shortcomings


def _few(accepted: int | None, conf: Any) -> Iterator[str]:
    """Yield a sentence if the server accepts fewer connections than processes may open."""
    most = PROCESSES * (conf.max_pool_size + max(conf.max_overflow or 0, 0))
    if accepted is not None and accepted < most:
        yield (
            f'the server accepts {accepted} connections, but two API workers and two managers may'
            f' open {most}: raise max_connections, or lower [database] max_pool_size and'
            ' max_overflow'
        )
