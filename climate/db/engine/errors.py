# SPDX-License-Identifier: Apache-2.0

"""Translates errors of database drivers into exceptions of the service."""

from __future__ import annotations

import logging
from typing import Any
from typing import Final
from typing import NoReturn

import sqlalchemy as sa
from oslo_db import exception as oslo_exception
from sqlalchemy import exc as sa_exception

from climate import exceptions
from climate.db.engine import error_codes
from climate.db.engine import error_log
from climate.db.schema import guards
from climate.exceptions.outages import Cause

LOG = logging.getLogger(__name__)

RAISED: Final = (oslo_exception.DBError, sa_exception.DBAPIError, sa_exception.TimeoutError)
"""What a transaction raises when it fails in the database."""

# How long clients wait at least before they try again, in seconds.
_RETRY_AFTER: Final = {Cause.GONE: 5, Cause.READ_ONLY: 5, Cause.OVERLOADED: 10, Cause.LOCKED: 1}
_MESSAGES: Final = {
    Cause.LOCKED: 'The database is too busy, please try again',
    Cause.OUTDATED: 'The database has no tables, or old ones: run climate-manage db sync',
}
# The pool keeps no connection after such an error, so that the next attempt has a new one.
_LEFT: Final = frozenset((Cause.GONE, Cause.READ_ONLY))


def is_duplicate(error: Exception) -> bool:
    """Whether a transaction failed to insert a row that another one has inserted."""
    return isinstance(error, oslo_exception.DBDuplicateEntry)


def is_lock_timeout(error: Exception) -> bool:
    """Whether the database has refused to wait any longer for a lock."""
    raised = _of_driver(error)
    return raised is not None and error_codes.code(raised) in error_codes.LOCK_TIMEOUTS


def cause(error: Exception) -> Cause | None:
    """Return what one of :data:`RAISED` means; None for a bug."""
    if isinstance(error, sa_exception.TimeoutError):
        # Of SQLAlchemy's pool: all connections of the process are in use.
        return Cause.OVERLOADED
    if isinstance(error, oslo_exception.DBDeadlock):
        return Cause.LOCKED
    raised = _of_driver(error)
    if raised is None:
        return None
    # SQLAlchemy knows some more errors of broken connections, which have no code.
    lost = isinstance(error, oslo_exception.DBConnectionError)
    return error_codes.cause(raised) or (Cause.GONE if lost else None)


def leave_connections(engine: sa.Engine) -> None:
    """Have an engine connect again after errors that another connection may not have.

    SQLAlchemy knows that of broken connections, but not of a server that is read-only since a
    failover. Its listeners for errors cannot say so: oslo.db's own comes first, and raises.
    """
    dialect: Any = engine.dialect
    known = dialect.is_disconnect

    def is_disconnect(error: Exception, connection: Any, cursor: Any) -> bool:
        return known(error, connection, cursor) or error_codes.cause(error) in _LEFT

    dialect.is_disconnect = is_disconnect


def reraise(error: Exception, hidden: str | None) -> NoReturn:
    """Raise the exception of the service for one of :data:`RAISED`.

    Raises *error* itself if there is none. Logs why the database is unavailable.

    :param hidden: the password of the database, which no message may contain; None for none
    :raises climate.exceptions.BookedMeanwhile: if a rule of the database refused a
        double booking
    :raises climate.exceptions.Conflict: if it refused to remove what is booked
    :raises climate.exceptions.DatabaseUnavailable: if the database does not answer, or
        has no current tables
    :raises climate.exceptions.DatabaseRefused: if it refuses what no retry changes
    """
    rule = guards.broken(error)
    if rule is not None:
        _refuse(rule, error)
    known = cause(error)
    if known is None:
        raise error
    reason = _reason(error, hidden)
    error_log.note(known, reason)
    if known is Cause.REFUSED:
        raise exceptions.DatabaseRefused(cause=known, reason=reason) from error
    facts = {'retry_after': _RETRY_AFTER[known]} if known in _RETRY_AFTER else {}
    raise exceptions.DatabaseUnavailable(
        _MESSAGES.get(known), cause=known, reason=reason, **facts
    ) from error


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


def _of_driver(error: BaseException) -> Exception | None:
    """Return the error of the driver from which one of :data:`RAISED` comes."""
    for each in (error, getattr(error, 'inner_exception', None), error.__cause__):
        orig = getattr(each, 'orig', None)
        if isinstance(orig, Exception):
            return orig
        if isinstance(each, RAISED) and each is not error:
            return _of_driver(each)
    return None


def _reason(error: Exception, hidden: str | None) -> str:
    raised = _of_driver(error)
    return error_log.sentence(error if raised is None else raised, hidden)
