# SPDX-License-Identifier: Apache-2.0

"""Whether the server of a connection is read-only, as one is that a failover has left."""

from __future__ import annotations

from typing import Any
from typing import Final

# PostgreSQL reports changes of these without being asked, from 14 on.
_REPORTED: Final = ('in_hot_standby', 'default_transaction_read_only')


def is_read_only(dialect: Any, connection: Any) -> bool:
    """Whether a connection cannot write, as far as it takes one statement to know.

    :param dialect: SQLAlchemy's dialect
    :param connection: of the driver
    """
    if dialect.name == 'postgresql':
        return any(_reported(connection, name) == 'on' for name in _REPORTED)
    if dialect.name not in ('mysql', 'mariadb'):
        return False
    with connection.cursor() as cursor:
        cursor.execute('SELECT @@global.read_only')
        # MariaDB 12 has names instead of numbers.
        return str(cursor.fetchone()[0]).upper() not in ('0', 'OFF')


def _reported(connection: Any, name: str) -> str | None:
    # psycopg and psycopg2.
    info = getattr(connection, 'info', None)
    ask = getattr(info, 'parameter_status', None) or connection.get_parameter_status
    value: str | None = ask(name)
    return value
