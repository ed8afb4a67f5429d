# SPDX-License-Identifier: Apache-2.0

"""Simulated volume types and pools of Cinder."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
import uuid
from collections.abc import Mapping

from climate import exceptions
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.cloud.base import Pool
from climate.cloud.base import VolumeType
from climate.simulator.store import Db
from climate.simulator.verbs import ServiceVerbs
from climate.simulator.verbs import verb

SCHEMA = """
CREATE TABLE IF NOT EXISTS volume_types (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    public INTEGER NOT NULL,
    extra_specs TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS volume_type_projects (
    type_id TEXT NOT NULL REFERENCES volume_types (id) ON DELETE CASCADE,
    project_id TEXT NOT NULL,
    PRIMARY KEY (type_id, project_id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pools (
    name TEXT PRIMARY KEY,
    backend_name TEXT NOT NULL,
    total_gb REAL
) WITHOUT ROWID;
"""
DEFAULT_TYPE = 'standard'


def _type(row: sqlite3.Row) -> VolumeType:
    specs = json.loads(row['extra_specs'])
    return VolumeType(**dict(row) | {'public': bool(row['public']), 'extra_specs': specs})


def find_type(db: Db, name: str) -> VolumeType | None:
    """Return the type with this name; None if it does not exist."""
    row = db.find('volume_types', name=name)
    return None if row is None else _type(row)


def _find_visible(db: Db, name: str) -> VolumeType | None:
    """Return a type as the caller, administrator or not, sees it."""
    volume_type = find_type(db, name)
    if volume_type is None or db.caller.sees_all:
        return volume_type
    if not may_use(db, volume_type, db.caller.project_id):
        return None
    return dataclasses.replace(volume_type, extra_specs={})


def _list_visible(db: Db) -> tuple[VolumeType, ...]:
    return tuple(filter(None, (_find_visible(db, each.name) for each in types(db))))


def types(db: Db) -> tuple[VolumeType, ...]:
    """Return every type, by name."""
    return tuple(map(_type, db.rows('SELECT * FROM volume_types ORDER BY name')))


def may_use(db: Db, volume_type: VolumeType, project_id: str) -> bool:
    """Return whether a project may create volumes of a type."""
    return volume_type.public or project_id in _projects(db, volume_type.id)


def require(db: Db, name: str | None) -> VolumeType | None:
    """Return the type with this name, or the default type.

    :param name: None for the default type, or no type if there is no default
    :raises CloudNotFound: if the named type does not exist
    """
    volume_type = find_type(db, name or DEFAULT_TYPE)
    if volume_type is None and name is not None:
        raise CloudNotFound(f'the simulated cloud has no volume type {name!r}')
    return volume_type


def create_type(db: Db, name: str, extra_specs: Mapping[str, str], *, public: bool) -> VolumeType:
    """Create a type.

    :raises CloudConflict: if a type with this name exists
    """
    if find_type(db, name):
        raise CloudConflict(f'volume type {name!r} exists already')
    made = VolumeType(id=str(uuid.uuid4()), name=name, public=public, extra_specs=dict(extra_specs))
    values = dataclasses.asdict(made)
    db.insert('volume_types', **values | {'extra_specs': json.dumps(made.extra_specs)})
    return made


def _create_private(db: Db, name: str, extra_specs: Mapping[str, str]) -> VolumeType:
    return create_type(db, name, extra_specs, public=False)


def _delete(db: Db, type_id: str) -> None:
    if db.row(
        'SELECT 1 FROM volumes v JOIN volume_types t ON t.name = v.volume_type WHERE t.id = ?',
        type_id,
    ):
        raise CloudConflict(f'there are volumes of type {type_id}')
    db.delete('volume_types', id=type_id)


def _public(db: Db, type_id: str) -> bool | None:
    row = db.row('SELECT public FROM volume_types WHERE id = ?', type_id)
    return None if row is None else bool(row['public'])


def _projects(db: Db, type_id: str) -> tuple[str, ...]:
    if _public(db, type_id) is not False:
        raise CloudNotFound(f'the simulated cloud has no private volume type {type_id}')
    rows = db.rows(
        'SELECT project_id FROM volume_type_projects WHERE type_id = ? ORDER BY project_id', type_id
    )
    return tuple(row['project_id'] for row in rows)


def _allow(db: Db, type_id: str, project_id: str) -> None:
    public = _public(db, type_id)
    if public is None:
        raise CloudNotFound(f'the simulated cloud has no volume type {type_id}')
    if public:
        raise exceptions.Permanent(f'the volume type {type_id} is public')
    db.insert('volume_type_projects', or_else='IGNORE', type_id=type_id, project_id=project_id)


def _forbid(db: Db, type_id: str, project_id: str) -> None:
    if _public(db, type_id):
        raise exceptions.Permanent(f'the volume type {type_id} is public')
    db.delete('volume_type_projects', type_id=type_id, project_id=project_id)


def pools(db: Db) -> tuple[Pool, ...]:
    """Return every pool, by name."""
    rows = db.rows(
        'SELECT p.*, (SELECT coalesce(sum(size_gb), 0) FROM volumes WHERE pool = p.name) AS held'
        ' FROM pools p ORDER BY p.name'
    )
    return tuple(
        Pool(
            name=row['name'],
            backend_name=row['backend_name'],
            total_gb=row['total_gb'],
            free_gb=None if row['total_gb'] is None else row['total_gb'] - row['held'],
            allocated_gb=float(row['held']),
            provisioned_gb=float(row['held']),
        )
        for row in rows
    )


def choose_pool(db: Db, volume_type: VolumeType | None, size_gb: int) -> str | None:
    """Return the name of a pool for a volume; None if no pool has room."""
    specs = volume_type.extra_specs if volume_type else {}
    for pool in pools(db):
        if (
            specs.get('volume_backend_name') in (None, pool.backend_name)
            and specs.get('pool_name') in (None, pool.name.rpartition('#')[2])
            and (pool.free_gb is None or pool.free_gb >= size_gb)
        ):
            return pool.name
    return None


class SimulatedVolumeTypes(ServiceVerbs):
    """Implements :class:`climate.cloud.protocols.volumes.VolumeTypes`."""

    find_volume_type = verb('volume.find_volume_type', _find_visible)
    list_volume_types = verb('volume.list_volume_types', _list_visible)
    create_volume_type = verb('volume.create_volume_type', _create_private)
    delete_volume_type = verb('volume.delete_volume_type', _delete)
    list_volume_type_projects = verb('volume.list_volume_type_projects', _projects)
    allow_volume_type = verb('volume.allow_volume_type', _allow)
    forbid_volume_type = verb('volume.forbid_volume_type', _forbid)
    list_pools = verb('volume.list_pools', pools)
