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
from climate.simulator.verbs import ServiceVerbs
from climate.simulator.verbs import verb

SCHEMA = """
CREATE TABLE IF NOT EXISTS server_groups (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    policy TEXT NOT NULL,
    project_id TEXT NOT NULL
);
"""


def _groups(db: Db) -> tuple[ServerGroup, ...]:
    rows = db.rows('SELECT * FROM server_groups ORDER BY id')
    return tuple(_group(db, row) for row in rows)


def find_group(db: Db, group_id: str) -> ServerGroup | None:
    """Return a group; None if it does not exist."""
    row = db.find('server_groups', id=group_id)
    return None if row is None else _group(db, row)


def _group(db: Db, row: sqlite3.Row) -> ServerGroup:
    members = db.rows('SELECT id FROM servers WHERE group_id = ? ORDER BY id', row['id'])
    return ServerGroup(**dict(row), members=tuple(member['id'] for member in members))


def _create(db: Db, name: str, policy: Policy) -> ServerGroup:
    project_id = db.caller.project_id
    if policy not in typing.get_args(Policy) or not 1 <= len(name) <= LONGEST:
        raise exceptions.Permanent(f'group name {name[:50]!r} or policy {policy!r} is invalid')
    count = db.row('SELECT count(*) FROM server_groups WHERE project_id = ?', project_id)
    quotas.require(db, project_id, 'server_groups', (count[0] if count else 0) + 1)
    group_id = str(uuid.uuid4())
    db.insert('server_groups', id=group_id, name=name, policy=policy, project_id=project_id)
    return ServerGroup(id=group_id, name=name, policy=policy, project_id=project_id, members=())


def _delete(db: Db, group_id: str) -> None:
    db.delete('server_groups', id=group_id)


class SimulatedServerGroups(ServiceVerbs):
    """Implements :class:`climate.cloud.protocols.servers.ServerGroups`."""

    list_server_groups = verb('compute.list_server_groups', _groups)
    find_server_group = verb('compute.find_server_group', find_group)
    create_server_group = verb('compute.create_server_group', _create)
    delete_server_group = verb('compute.delete_server_group', _delete)
