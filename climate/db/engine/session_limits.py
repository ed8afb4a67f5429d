# SPDX-License-Identifier: Apache-2.0

"""Limits that the server sets to a session whose client has vanished.

The machine of a client that fails in a transaction says no good-bye. Its locks would remain
until the server notices: after two hours, or never.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event

from climate.db.engine import silence

# Only what the server knows, which depends on its version.
_SET_POSTGRESQL = """
    SELECT set_config(name, wanted.value, false)
    FROM (VALUES {rows}) AS wanted (name, value) JOIN pg_settings USING (name)
"""
_SHOW_POSTGRESQL = "SELECT current_setting('{name}', true)"


def limit(engine: sa.Engine, seconds: int) -> None:
    """Let the server end sessions that are idle in a transaction for so many seconds."""
    postgresql = engine.dialect.name == 'postgresql'
    if postgresql:
        event.listen(engine, 'do_connect', functools.partial(_keep_alive, seconds))
    event.listen(
        engine, 'connect', functools.partial(_set_postgresql if postgresql else _set_mysql, seconds)
    )


def relax(connection: sa.Connection, seconds: int) -> None:
    """Let the session of a connection be idle in a transaction for so many seconds."""
    sets = _set_postgresql if connection.dialect.name == 'postgresql' else _set_mysql
    sets(seconds, connection.connection.dbapi_connection, None)


def unset(connection: sa.Connection, seconds: int) -> Iterator[str]:
    """Yield a sentence for each limit that the server does not keep in this session.

    :param seconds: the limit that was configured
    """
    if connection.dialect.name == 'postgresql':
        # On a Unix socket there is no network that can fail.
        local = connection.exec_driver_sql('SELECT inet_server_addr() IS NULL').scalar()
        for name, wanted in _postgresql(seconds).items():
            if local and name.startswith('tcp_'):
                continue
            present = connection.exec_driver_sql(_SHOW_POSTGRESQL.format(name=name)).scalar()
            if _seconds(present, name) != _seconds(wanted, name):
                yield f'{name} is {present or "unknown"} instead of {wanted}'
    elif connection.dialect.name in ('mysql', 'mariadb'):
        rows = connection.exec_driver_sql('SHOW SESSION VARIABLES').all()
        variables = {row[0]: row[1] for row in rows}
        for name, number in _mysql(seconds).items():
            if variables.get(name) != str(number):
                yield f'{name} is {variables.get(name, "unknown")} instead of {number}'


def _postgresql(seconds: int) -> Mapping[str, str]:
    return {
        'idle_in_transaction_session_timeout': f'{seconds}s',
        # For a session that waits to send a result.
        'tcp_user_timeout': f'{seconds}s',
        **{f'tcp_keepalives_{name}': str(value) for name, value in silence.KEEPALIVE.items()},
    }


def _mysql(seconds: int) -> Mapping[str, int]:
    return {
        'idle_transaction_timeout': seconds,
        # For a session that waits for the rest of a statement, or to send a result.
        'net_read_timeout': seconds,
        'net_write_timeout': seconds,
    }


def _seconds(text: str | None, name: str) -> float:
    """Return the seconds of a setting such as ``8s``, ``8000ms`` or ``1min``."""
    if not text:
        return -1
    digits = text.rstrip('abcdefghijklmnopqrstuvwxyz ')
    unit = text[len(digits) :].strip()
    number = float(digits)
    if not unit and name == 'tcp_user_timeout':
        unit = 'ms'
    return number * {'ms': 0.001, 'min': 60, 'h': 3600}.get(unit, 1)


def _keep_alive(seconds: int, _dialect: Any, _record: Any, _args: Any, params: Any) -> None:
    """Set the parameters of libpq, which the server and poolers do not see."""
    params.setdefault('keepalives', 1)
    for name, value in silence.KEEPALIVE.items():
        params.setdefault(f'keepalives_{name}', value)
    params.setdefault('tcp_user_timeout', seconds * 1000)


def _set_postgresql(seconds: int, connection: Any, _record: Any) -> None:
    # Not as parameters of the connection: poolers refuse those that they do not know.
    rows = ', '.join(f"('{name}', '{value}')" for name, value in _postgresql(seconds).items())
    with connection.cursor() as cursor:
        cursor.execute(_SET_POSTGRESQL.format(rows=rows))
    connection.commit()


def _set_mysql(seconds: int, connection: Any, _record: Any) -> None:
    with connection.cursor() as cursor:
        for name, value in _mysql(seconds).items():
            # MySQL has no limit for idle transactions.
            if name != 'idle_transaction_timeout' or 'MariaDB' in connection.server_version:
                cursor.execute(f'SET SESSION {name} = {value}')
