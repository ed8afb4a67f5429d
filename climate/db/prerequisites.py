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

"""What a database needs, before tables are made and when operators ask."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any
from typing import Final

import sqlalchemy as sa

from climate import exceptions
from climate.db import prerequisites_mariadb
from climate.db import prerequisites_postgresql
from climate.db import prerequisites_sqlite

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
        fatal=tuple(engine.complaints(facts)), minor=tuple(_few(engine.connections(facts), conf))
    )


def require(connection: sa.Connection, conf: Any) -> Shortcomings:
    """Return what a database lacks, if it can have the tables.

    :raises climate.exceptions.ConfigurationError: if it cannot
    """
    found = find(connection, conf)
    if found.fatal:
        raise exceptions.ConfigurationError('; '.join(found.fatal))
    return found


def _few(accepted: int | None, conf: Any) -> Iterator[str]:
    """Yield a sentence if the server accepts fewer connections than processes may open."""
    most = PROCESSES * (conf.max_pool_size + max(conf.max_overflow or 0, 0))
    if accepted is not None and accepted < most:
        yield (
            f'the server accepts {accepted} connections, but two API workers and two managers may'
            f' open {most}: raise max_connections, or lower [database] max_pool_size and'
            ' max_overflow'
        )
