# SPDX-License-Identifier: Apache-2.0

"""Simulated server groups."""

from __future__ import annotations

import sqlite3
import typing
import uuid

from climate import exceptions
from climate.cloud.base import Policy
from climate.cloud.base import ServerGroup
from climate.simulator import quotas
from climate.simulator.store import Db
from climate.simulator.verbs import LONGEST
from climate.simulator.verbs import ProjectVerbs

SCHEMA = """
CREATE TABLE IF NOT EXISTS server_groups (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    policy TEXT NOT NULL,
    project_id TEXT NOT NULL
);
"""


class SimulatedServerGroups(ProjectVerbs):
    """Implements :class:`climate.cloud.protocols.server_groups.ServerGroups`."""

    def list_server_groups(self) -> tuple[ServerGroup, ...]:
        """Return every group, by id."""
        return self._runner.run('compute.list_server_groups', (), _groups)

    def find_server_group(self, group_id: str) -> ServerGroup | None:
        """Return a group; None if it does not exist."""
        return self._runner.run(
            'compute.find_server_group', (group_id,), lambda db: find_group(db, group_id)
        )

    def create_server_group(self, name: str, policy: Policy) -> ServerGroup:
        """Create an empty group in the project of the caller."""
        return self._runner.run(
            'compute.create_server_group',
            (name, policy),
            lambda db: _create(db, name, policy, self._runner.project(db)),
        )

    def delete_server_group(self, group_id: str) -> None:
        """Delete a group; a no-op if it does not exist."""
        self._runner.run(
            'compute.delete_server_group', (group_id,), lambda db: _delete(db, group_id)
        )


def _groups(db: Db) -> tuple[ServerGroup, ...]:
    rows = db.rows('SELECT * FROM server_groups ORDER BY id')
    return tuple(_group(db, row) for row in rows)


def find_group(db: Db, group_id: str) -> ServerGroup | None:
    """Return a group; None if it does not exist."""
    row = db.row('SELECT * FROM server_groups WHERE id = ?', group_id)
    return None if row is None else _group(db, row)


def _group(db: Db, row: sqlite3.Row) -> ServerGroup:
    members = db.rows('SELECT id FROM servers WHERE group_id = ? ORDER BY id', row['id'])
    return ServerGroup(**dict(row), members=tuple(member['id'] for member in members))


def _create(db: Db, name: str, policy: Policy, project_id: str) -> ServerGroup:
    if policy not in typing.get_args(Policy) or not 1 <= len(name) <= LONGEST:
        raise exceptions.Permanent(f'group name {name[:50]!r} or policy {policy!r} is invalid')
    count = db.row('SELECT count(*) FROM server_groups WHERE project_id = ?', project_id)
    quotas.require(db, project_id, 'server_groups', (count[0] if count else 0) + 1)
    group_id = str(uuid.uuid4())
    db.run(
        'INSERT INTO server_groups (id, name, policy, project_id) VALUES (?, ?, ?, ?)',
        group_id,
        name,
        policy,
        project_id,
    )
    return ServerGroup(id=group_id, name=name, policy=policy, project_id=project_id, members=())


def _delete(db: Db, group_id: str) -> None:
    db.run('DELETE FROM server_groups WHERE id = ?', group_id)
