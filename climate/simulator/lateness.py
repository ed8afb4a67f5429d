# SPDX-License-Identifier: Apache-2.0

"""What was made becomes visible only after a while, as with replicas and caches.

A call that changes an object always finds it. A call that looks does not see it yet: a
list lacks it, ``find_`` returns None, and a list of something that it has is refused.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from climate.cloud.base import CloudNotFound
from climate.cloud.read_only import is_read_only
from climate.simulator.store import Db

SCHEMA = """
CREATE TABLE IF NOT EXISTS lateness (seconds REAL NOT NULL);
CREATE TABLE IF NOT EXISTS late (id TEXT PRIMARY KEY, visible_at REAL NOT NULL) WITHOUT ROWID;
"""
TABLES = ('late', 'lateness')
_NO_RESULT = object()


def set_seconds(db: Db, seconds: float) -> None:
    """Show what is made from now on only after this long; 0 for at once."""
    db.run('DELETE FROM lateness')
    if seconds:
        db.insert('lateness', seconds=seconds)
    else:
        db.run('DELETE FROM late')


def before(db: Db, verb: str, arguments: tuple[object, ...]) -> Any:
    """Return the result of a call that looks for something that is not visible yet.

    :returns: a marker, for which :func:`is_result` is false, if the call has to be made
    """
    if not is_read_only(verb) or not _hidden(db) & {str(item) for item in arguments}:
        return _NO_RESULT
    if verb.partition('.')[2].startswith('find_'):
        return None
    return CloudNotFound(f'{verb}: the simulated cloud does not show this yet, as configured')


def is_result(result: Any) -> bool:
    """Whether :func:`before` returned a result."""
    return result is not _NO_RESULT


def after(db: Db, verb: str, arguments: tuple[object, ...], result: Any) -> Any:
    """Return a result without what is not visible yet, or note what was made."""
    seconds = db.row('SELECT seconds FROM lateness')
    if seconds is None:
        return result
    if verb.partition('.')[2].startswith('create_'):
        for key in _keys(result) or {str(item) for item in arguments[:1]}:
            db.insert('late', or_else='REPLACE', id=key, visible_at=db.now + seconds['seconds'])
        return result
    hidden = _hidden(db)
    if not is_read_only(verb) or not hidden:
        return result
    if isinstance(result, tuple):
        return tuple(item for item in result if not _keys(item) & hidden)
    return None if _keys(result) & hidden else result


def _hidden(db: Db) -> set[str]:
    return {row['id'] for row in db.rows('SELECT id FROM late WHERE visible_at > ?', db.now)}


def _keys(item: Any) -> set[str]:
    if isinstance(item, str):
        return {item}
    if not dataclasses.is_dataclass(item):
        return set()
    ids = (getattr(item, name, None) for name in ('id', 'uuid'))
    return {str(key) for key in ids if key}
