# SPDX-License-Identifier: Apache-2.0

"""Finds transactions that change what is free of a resource without raising its generation.

Timelines in memory (:mod:`climate.db.timelines.timelines`) read only resources whose generation has
changed. All statements of the service are looked at while the functional tests run, each
transaction when it commits; what tests write themselves does not count.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

TABLES = ('allocations', 'inventories', 'maintenances', 'properties', 'resources')

_WRITE = re.compile(
    rf'\s*(?:WITH\b.*\)\s*)?(?P<verb>INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+(?P<table>{"|".join(TABLES)})\b(?P<rest>.*)',
    re.IGNORECASE | re.DOTALL,
)
_RAISE = re.compile(r'\s*UPDATE\s+resources\s+SET\b.*\bgeneration\s*=', re.IGNORECASE | re.DOTALL)
_MAKE = re.compile(r'\s*(INSERT\s+INTO|DELETE\s+FROM)\s+resources\b', re.IGNORECASE)
# Written with a resource that comes or goes, which timelines notice by its id.
_PART = re.compile(r'\s*(INSERT\s+INTO|DELETE\s+FROM)\s+(inventories|properties)\b', re.IGNORECASE)
# An UPDATE of these columns alone changes nothing that a search looks at.
_HARMLESS = {'allocations': {'state'}, 'resources': {'updated_at', 'project_id'}}
_ASSIGNED = re.compile(r'\bSET\b(?P<values>.*?)(\bWHERE\b|$)', re.IGNORECASE | re.DOTALL)
_COLUMN = re.compile(r'(?:^|,)\s*`?(\w+)`?\s*=(?!=)')
# What has been released a long time ago is deleted without a trace in any search.
_PURGE = 'climate/db/administration/purge.py'
_INFO = 'unannounced_writes'

_found: list[str] = []


def taken() -> list[str]:
    """Return the complaints since the last call."""
    found, _found[:] = list(_found), []
    return found


def complaints(statements: list[str]) -> list[str]:
    """Return the writes of one transaction that it does not announce."""
    if any(_RAISE.match(text) for text in statements):
        return []
    made = any(_MAKE.match(text) for text in statements)
    return [text for text in statements if _matters(text) and not (made and _PART.match(text))]


def _matters(text: str) -> bool:
    found = _WRITE.match(text)
    if found is None:
        return False
    table, verb = found['table'].lower(), found['verb'].upper().split()[0]
    if verb == 'UPDATE':
        assigned = _ASSIGNED.search(found['rest'])
        columns = set(_COLUMN.findall(assigned['values'])) if assigned else set()
        return not (columns and columns <= _HARMLESS.get(table, set()))
    # Timelines notice by their ids which resources come and go.
    return table != 'resources'


def watch() -> None:
    """Look at all transactions of this process from now on."""
    sa.event.listen(sa.Engine, 'after_cursor_execute', _note)
    sa.event.listen(sa.Engine, 'commit', _check)
    sa.event.listen(sa.Engine, 'rollback', _forget)


def _note(connection: sa.Connection, cursor: Any, text: str, *_rest: Any) -> None:
    # Many statements find nothing to write. A negative number is an unknown one.
    if cursor.rowcount == 0:
        return
    counts = _RAISE.match(text) or _MAKE.match(text) or _matters(text)
    if counts and _is_of_the_service():
        connection.info.setdefault(_INFO, []).append(text)


def _check(connection: sa.Connection) -> None:
    _found.extend(complaints(connection.info.pop(_INFO, [])))


def _forget(connection: sa.Connection) -> None:
    # A lost connection has taken its transaction along.
    if not connection.invalidated:
        connection.info.pop(_INFO, None)


def _is_of_the_service() -> bool:
    """Whether code of the service runs the statement, rather than a test."""
    for name in _files():
        if '/tests/' in name or '/benchmarks/' in name or name.endswith(_PURGE):
            return False
        if '/climate/' in name and '/site-packages/' not in name:
            return not name.endswith('/climate/db/schema/guards.py')
    return False


def _files() -> Iterator[str]:
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename != __file__:
            yield frame.f_code.co_filename
        frame = frame.f_back
