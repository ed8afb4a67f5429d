# SPDX-License-Identifier: Apache-2.0

"""Quotas of projects in the simulated cloud; by default there are none."""

from __future__ import annotations

from climate.cloud.base import CloudQuota
from climate.simulator.store import Db

SCHEMA = """
CREATE TABLE IF NOT EXISTS quotas (
    project_id TEXT NOT NULL,
    resource TEXT NOT NULL,
    most INTEGER NOT NULL,
    PRIMARY KEY (project_id, resource)
) WITHOUT ROWID;
"""


def require(db: Db, project_id: str, resource: str, wanted: int) -> None:
    """Check that the quota of a project allows *wanted* of a resource in total.

    :param resource: ``instances``, ``cores``, ``server_groups``, ``networks``,
        ``floatingips``, ``volumes``, ``gigabytes``, ``snapshots``, ``backups`` or
        ``backup_gigabytes``
    :raises CloudQuota: if it does not
    """
    row = db.row(
        'SELECT most FROM quotas WHERE project_id = ? AND resource = ?', project_id, resource
    )
    if row is not None and wanted > row['most']:
        raise CloudQuota(f'the quota of project {project_id} is {row["most"]} {resource}')


def put(db: Db, project_id: str, resource: str, most: int | None) -> None:
    """Set the quota of a project; None, the default, for no limit.

    :param resource: see :func:`require`
    """
    db.delete('quotas', project_id=project_id, resource=resource)
    if most is not None:
        db.insert('quotas', project_id=project_id, resource=resource, most=most)
