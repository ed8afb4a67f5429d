# SPDX-License-Identifier: Apache-2.0

"""Statements that PostgreSQL parses and plans once for each connection.

That takes longer than to execute them: a third of the server's time for a new lease.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any
from typing import Final
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy import event

from climate.db.engine import errors

S = TypeVar('S', bound=sa.Executable)

_OPTION: Final = 'climate_prepared'
OPTIONS: Final[Mapping[str, bool]] = {_OPTION: True}
"""The execution options of such a statement."""
# psycopg prepares nothing if it is None, and by itself what it has executed so often.
_NEVER: Final = 1 << 62


def prepared(statement: S) -> S:
    """Mark a constant statement, for which one plan is good with any parameters."""
    return statement.execution_options(**OPTIONS)


def set_up(engine: sa.Engine, prepares: bool) -> None:
    """Let an engine with the driver psycopg prepare marked statements, and no others.

    Searches are not marked: they need a plan for each set of parameters.

    :param prepares: whether to prepare any; some connection poolers do not support it
    """

    @event.listens_for(engine, 'do_connect')
    def _set_threshold(_dialect: Any, _record: Any, _args: Any, params: Any) -> None:
        params.setdefault('prepare_threshold', _NEVER if prepares else None)

    def execute(cursor: Any, statement: str, parameters: Any, context: Any = None) -> None:
        marked = context is not None and _OPTION in context.execution_options
        cursor.execute(statement, parameters, prepare=marked)

    @event.listens_for(engine, 'checkout')
    def _check(connection: Any, _record: Any, _proxy: Any) -> None:
        # A block of kept() was interrupted. A booking that is no transaction books halves.
        if connection.autocommit:
            raise sa.exc.DisconnectionError

    if prepares:
        setattr(engine.dialect, 'do_execute', execute)  # noqa: B010 - of this engine only


@contextlib.contextmanager
def kept(session: sa.Connection) -> Iterator[None]:
    """Let each statement of a block that only reads be a transaction of its own.

    Otherwise its transaction would end with a ROLLBACK, after which psycopg drops all plans.
    At READ COMMITTED, each statement has a snapshot of its own anyway.

    A connection that remains in this state is not used again.
    """
    if session.dialect.driver != 'psycopg':
        yield
        return
    connection: Any = session.connection.driver_connection
    connection.autocommit = True
    try:
        yield
    except errors.RAISED:
        # Without a ROLLBACK, the driver keeps also the plan that has failed.
        session.invalidate()
        raise
    finally:
        # Not in the middle of a statement or of a transaction, which the error is about.
        with contextlib.suppress(session.dialect.loaded_dbapi.Error):
            connection.autocommit = False
