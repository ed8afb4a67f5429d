# SPDX-License-Identifier: Apache-2.0

"""Functions that volumes, snapshots and backups of the simulated Cinder share.

Each has a table with the columns ``status``, ``changes_at`` (the time of the next change
in seconds since the epoch, null if there is none) and ``becomes`` (the next status, null
if the row disappears).
"""

from __future__ import annotations

from typing import Literal
from typing import Protocol

from climate import exceptions
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.simulator import attachments
from climate.simulator import quotas
from climate.simulator.store import Db

Kind = Literal['volume', 'snapshot', 'backup']
_TABLES: dict[Kind, str] = {'volume': 'volumes', 'snapshot': 'snapshots', 'backup': 'backups'}


class _Row(Protocol):
    """A volume, snapshot or backup."""

    @property
    def id(self) -> str:
        """The id in Cinder."""

    @property
    def status(self) -> str:
        """The status in Cinder."""


def settle(db: Db) -> None:
    """Complete the operations that are due."""
    attachments.settle(db)
    for table in _TABLES.values():
        db.run(f'DELETE FROM {table} WHERE changes_at <= ? AND becomes IS NULL', db.now)  # noqa: S608  a constant table
        db.run(
            f'UPDATE {table} SET status = becomes, changes_at = NULL, becomes = NULL'  # noqa: S608  a constant table
            ' WHERE changes_at <= ?',
            db.now,
        )


def available_size(db: Db, kind: Kind, row_id: str, unavailable: type[exceptions.Permanent]) -> int:
    """Return the size of a volume or snapshot that can be copied, in GiB.

    To be called after :func:`settle`.

    :param unavailable: the error to raise if its status does not allow it
    :raises CloudNotFound: if it does not exist
    """
    row = db.row(f'SELECT size_gb, status FROM {_TABLES[kind]} WHERE id = ?', row_id)  # noqa: S608  a constant table
    if row is None:
        raise CloudNotFound(f'the simulated cloud has no {kind} {row_id}')
    if row['status'] != 'available':
        raise unavailable(f'{kind} {row_id} is {row["status"]}')
    return int(row['size_gb'])


def require_gigabytes(db: Db, project_id: str, more: int) -> None:
    """Check that a project may have *more* GiB in volumes and snapshots.

    :raises CloudQuota: if it may not
    """
    row = db.row(
        'SELECT (SELECT coalesce(sum(size_gb), 0) FROM volumes WHERE project_id = ?)'
        ' + (SELECT coalesce(sum(size_gb), 0) FROM snapshots WHERE project_id = ?) AS n',
        project_id,
        project_id,
    )
    assert row is not None
    quotas.require(db, project_id, 'gigabytes', row['n'] + more)


def may_delete(kind: Kind, item: _Row | None) -> bool:
    """Return whether to delete an object; not if it is gone or being deleted.

    :raises CloudConflict: if its status does not allow it
    """
    if item is None or item.status == 'deleting':
        return False
    if item.status not in ('available', 'error'):
        raise CloudConflict(f'{kind} {item.id} is {item.status}')
    return True


def begin_deletion(db: Db, kind: Kind, row_id: str) -> None:
    """Start to delete an object, which takes as long as configured."""
    db.run(
        f"UPDATE {_TABLES[kind]} SET status = 'deleting', changes_at = ?, becomes = NULL"  # noqa: S608  a constant table
        ' WHERE id = ?',
        db.now + db.seconds(f'{kind}_deletion'),
        row_id,
    )
