# SPDX-License-Identifier: Apache-2.0

"""What an error of a database driver means: one table for each engine, by code.

A driver that cannot connect to PostgreSQL has no code, only the text of the server, so that
its table has texts, too. A code that no table has is a bug of Climate, or unknown.
"""

from __future__ import annotations

import errno
import os
import socket
import sqlite3
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.exceptions.outages import Cause

GONE, READ_ONLY, OVERLOADED = Cause.GONE, Cause.READ_ONLY, Cause.OVERLOADED
LOCKED, REFUSED, OUTDATED = Cause.LOCKED, Cause.REFUSED, Cause.OUTDATED

LOCK_TIMEOUTS: Final = frozenset((1205, '55P03', 'SQLITE_BUSY'))
"""The codes of a statement that has waited too long for a lock."""


def _table(**codes: Iterable[int | str]) -> dict[int | str, Cause]:
    return {code: Cause[name] for name, some in codes.items() for code in some}


MARIADB: Final[Mapping[int | str, Cause]] = _table(
    # 1047: a node of Galera that has lost its cluster. 0: PyMySQL's own connection is closed.
    GONE=(
        *(0, 1047, 1053, 1079, 1080, 1152, 1158, 1159, 1160, 1161, 1184, 1189, 1190, 1927),
        *(2000, 2002, 2003, 2006, 2013, 2014, 2045, 2055, 4031),
    ),
    # 1792 is of a session that may only read.
    READ_ONLY=(1290, 1792, 1836),
    # Memory, disks, threads, connections, locks and statements that are too long.
    OVERLOADED=(
        *(3, 1021, 1026, 1030, 1037, 1038, 1040, 1041, 1114, 1129, 1135, 1203, 1206, 1226),
        *(1637, 1969, 3024),
    ),
    # 1020: the row has changed. 1317: an administrator has stopped the statement.
    LOCKED=(1020, 1205, 1213, 1317, 1412),
    # Passwords, databases, rights, engines, encryption of the connection.
    REFUSED=(
        *(1044, 1045, 1049, 1130, 1131, 1132, 1133, 1142, 1143, 1227, 1251, 1286, 1370, 1419),
        *(1524, 1698, 1820, 1862, 2026, 2059, 2061, 3032, 3159, 4151),
        # Character sets and collations.
        *(1115, 1253, 1267, 1270, 1271, 1273, 1300, 1366, 3854, 3988),
    ),
    OUTDATED=(1054, 1146),
)
"""By the number of the error."""

POSTGRESQL: Final[Mapping[int | str, Cause]] = _table(
    GONE=('08', '25P03', '25P04', '57P01', '57P02', '57P03', '57P05'),
    READ_ONLY=('25006',),
    # 57014: a time-out of the statement.
    OVERLOADED=('53', '58', '57014'),
    LOCKED=('40', '55P03', '55006'),
    REFUSED=('28', '3D', '3F', '42501', '42704', '22P05', '22021', '57P04', '58P01'),
    OUTDATED=('42P01', '42703'),
)
"""By SQLSTATE, or by its class."""

_REFUSALS: Final = (
    'password authentication failed',
    'no password supplied',
    'authentication failed for user',
    'no pg_hba.conf entry',
    'is not permitted to log in',
    'permission denied for database',
    'failed to resolve host',
    'could not translate host name',
    'ssl was required',
    'does not support ssl',
    'certificate verify failed',
    'requires a channel binding',
)
# Of PostgreSQL: the server refuses a connection, and its driver has no code of that.
CONNECTING: Final[Mapping[str, Cause]] = {
    **dict.fromkeys(_REFUSALS, REFUSED),
    'remaining connection slots are reserved': OVERLOADED,
    'too many clients already': OVERLOADED,
    'too many connections for': OVERLOADED,
    'too many open files': OVERLOADED,
    # target_session_attrs
    'session is read-only': READ_ONLY,
    'server is in hot standby mode': READ_ONLY,
}

SQLITE: Final[Mapping[int | str, Cause]] = _table(
    GONE=('SQLITE_IOERR',),
    READ_ONLY=('SQLITE_READONLY',),
    OVERLOADED=('SQLITE_FULL', 'SQLITE_NOMEM', 'SQLITE_TOOBIG'),
    # SQLITE_SCHEMA: another process has changed the tables.
    LOCKED=('SQLITE_BUSY', 'SQLITE_LOCKED', 'SQLITE_SCHEMA', 'SQLITE_PROTOCOL', 'SQLITE_INTERRUPT'),
    REFUSED=(
        *('SQLITE_AUTH', 'SQLITE_CANTOPEN', 'SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_PERM'),
        'SQLITE_NOLFS',
    ),
)
"""By the name of the error, or its first two words."""

# All that SQLite says of these is SQLITE_ERROR.
_OLD_TABLES: Final = ('no such table', 'no such column', 'has no column named')
# PostgreSQL has one code for all that it cannot do.
_CHANGED_TABLES: Final = 'cached plan must not change result type'
_NOT_SUPPORTED: Final = '0A000'
# The numbers of the operating system, of which the drivers make errors of connections.
_NO_DESCRIPTORS: Final = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM))
_UNKNOWN_HOST: Final = frozenset((socket.EAI_NONAME, getattr(socket, 'EAI_NODATA', -5)))


def code(error: BaseException) -> int | str | None:
    """Return the code of an error of a driver: a number, a SQLSTATE or a name of SQLite."""
    number = error.args[0] if error.args else None
    if isinstance(number, int):
        return number
    # psycopg has a SQLSTATE, psycopg2 calls it pgcode.
    codes = (getattr(error, name, None) for name in ('sqlite_errorname', 'sqlstate', 'pgcode'))
    return next((name for name in codes if isinstance(name, str)), None)


def cause(error: BaseException) -> Cause | None:
    """Return what an error of a driver means; None for none of :class:`Cause`."""
    of_system = _of_system(error)
    if of_system is not None:
        return of_system
    if isinstance(error, sqlite3.Error):
        return _of_sqlite(error)
    number = code(error)
    # The other drivers are installed only where they are used.
    return MARIADB.get(number) if isinstance(number, int) else _of_postgresql(error)


def _of_system(error: BaseException) -> Cause | None:
    """Return what an error of the operating system means, from which a driver's error comes."""
    for each in _chain(error):
        if isinstance(each, socket.gaierror):
            return REFUSED if each.errno in _UNKNOWN_HOST else GONE
        if isinstance(each, OSError) and each.errno in _NO_DESCRIPTORS:
            return OVERLOADED
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    link: Any = error
    for _ in range(5):
        if not isinstance(link, BaseException):
            return
        yield link
        # PyMySQL keeps it as a field.
        link = getattr(link, 'original_exception', None) or link.__cause__


def _of_sqlite(error: BaseException) -> Cause | None:
    name = code(error)
    if not isinstance(name, str):
        return None
    if name == 'SQLITE_ERROR':
        text = str(error).lower()
        return OUTDATED if any(words in text for words in _OLD_TABLES) else None
    if name.startswith('SQLITE_CANTOPEN') and _has_no_descriptors():
        return OVERLOADED
    # The more exact names are longer: SQLITE_READONLY_DIRECTORY, SQLITE_BUSY_SNAPSHOT.
    return SQLITE.get('_'.join(name.split('_')[:2]))


def _has_no_descriptors() -> bool:
    """Whether the process cannot open files, which SQLite does not report as such."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno in _NO_DESCRIPTORS
    return False


def _of_postgresql(error: BaseException) -> Cause | None:
    state = code(error)
    if isinstance(state, str):
        if state == _NOT_SUPPORTED:
            return LOCKED if _CHANGED_TABLES in str(error) else None
        return POSTGRESQL.get(state) or POSTGRESQL.get(state[:2])
    # No server has answered, or none that accepts the connection. All other errors of the
    # driver itself are bugs, such as a statement with too few parameters.
    if not any(kind.__name__ in _OF_CONNECTIONS for kind in type(error).__mro__):
        return None
    return _of_connecting(str(error).lower())


_OF_CONNECTIONS: Final = frozenset(('OperationalError', 'InterfaceError'))


def _of_connecting(text: str) -> Cause:
    # "database "x" does not exist", "role "x" does not exist".
    if 'fatal' in text and 'does not exist' in text:
        return REFUSED
    return next((meaning for words, meaning in CONNECTING.items() if words in text), GONE)
