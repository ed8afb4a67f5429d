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

"""Translates errors of database drivers into exceptions of the service."""

from __future__ import annotations

import logging
from typing import Final
from typing import NoReturn

from oslo_db import exception as oslo_exception
from sqlalchemy import exc as sa_exception

from climate import exceptions
from climate.db import guards

LOG = logging.getLogger(__name__)

# oslo.db does not translate the errors of the very first connection.
_DOWN = (
    oslo_exception.DBConnectionError,
    sa_exception.TimeoutError,
    sa_exception.InterfaceError,
    sa_exception.OperationalError,
)

# The number of the error of MariaDB, which oslo.db takes for a deadlock.
_LOCK_WAIT_TIMEOUT = 1205
# Of MariaDB.
_NO_SUCH_TABLE = 1146


class LockedTooLong(oslo_exception.DBError):
    """A transaction that is not repeated has waited too long for a lock."""


RAISED: Final = (oslo_exception.DBError, sa_exception.DBAPIError, sa_exception.TimeoutError)
"""What a transaction raises when it fails in the database."""


def is_duplicate(error: Exception) -> bool:
    """Whether a transaction failed to insert a row that another one has inserted."""
    return isinstance(error, oslo_exception.DBDuplicateEntry)


def is_lock_timeout(error: Exception) -> bool:
    """Whether MariaDB has refused to wait any longer for a lock."""
    cause = getattr(error, 'inner_exception', None)
    return getattr(cause, 'orig', error).args[:1] == (_LOCK_WAIT_TIMEOUT,)


def reraise(error: Exception) -> NoReturn:
    """Raise the exception of the service for one of :data:`RAISED`.

    Raises *error* itself if there is none.

    :raises climate.exceptions.BookedMeanwhile: if a rule of the database refused a
        double booking
    :raises climate.exceptions.Conflict: if it refused to remove what is booked
    :raises climate.exceptions.DatabaseUnavailable: if the database does not answer, or
        has no current tables
    """
    rule = guards.broken(error)
    if rule is not None:
        _refuse(rule, error)
    if isinstance(error, _DOWN):
        raise exceptions.DatabaseUnavailable from error
    if isinstance(error, oslo_exception.DBNonExistentDatabase):
        raise exceptions.DatabaseUnavailable('There is no such database') from error
    if isinstance(error, oslo_exception.DBDeadlock):
        raise exceptions.DatabaseUnavailable(
            'The database is too busy, please try again'
        ) from error
    if isinstance(error, (oslo_exception.DBError, sa_exception.ProgrammingError)):
        _reraise_unavailable(error)
    raise error


def _refuse(rule: guards.Rule, error: Exception) -> NoReturn:
    """Log and raise the refusal of a statement by a rule of the database.

    The database checks rows as they are written, before the service checks its result.
    A refused double booking is therefore an ordinary lost race, after which the service
    chooses resources again.
    """
    LOG.info('The database refused a transaction: %s', guards.TEXTS[rule])
    if rule is guards.Rule.SUPPLY:
        raise exceptions.Conflict('Live allocations need what would be removed') from error
    raise exceptions.BookedMeanwhile from error


def _reraise_unavailable(error: Exception) -> None:
    if _has_no_table(error):
        raise exceptions.DatabaseUnavailable(
            'The database has no tables, or old ones: run climate-manage db sync'
        ) from error
    if _is_unavailable(error):
        raise exceptions.DatabaseUnavailable from error


# Messages of a server that is starting, stopping or full, of SQLite when a writer has
# waited too long, and of PostgreSQL after a migration that changes the type of a column. The
# driver then drops the plan. oslo.db has no exceptions for them.
_UNAVAILABLE = (
    'cached plan must not change result type',
    'database is locked',
    'the database system is',
    'too many connections',
    'too many clients',
    'terminating connection',
    'server closed the connection',
    'lost connection',
)


def _has_no_table(error: Exception) -> bool:
    if isinstance(error, sa_exception.ProgrammingError):
        # oslo.db leaves this error of MariaDB as it is.
        return bool(error.orig and error.orig.args[:1] == (_NO_SUCH_TABLE,))
    # oslo.db does not recognize the message of PostgreSQL.
    return isinstance(error, oslo_exception.DBNonExistentTable) or (
        'relation "' in str(error) and 'does not exist' in str(error)
    )


def _is_unavailable(error: Exception) -> bool:
    text = str(error).lower()
    return any(words in text for words in _UNAVAILABLE)
