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
from climate.simulator.runner import VerbRunner
from climate.simulator.store import Db

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


class SimulatedVolumeTypes:
    """Implements :class:`climate.cloud.protocols.volume_types.VolumeTypes`."""

    _runner: VerbRunner

    def find_volume_type(self, name: str) -> VolumeType | None:
        """Return the type with this name; None if the caller may not use it."""
        return self._runner.run('volume.find_volume_type', (name,), lambda db: self._find(db, name))

    def list_volume_types(self) -> tuple[VolumeType, ...]:
        """Return all types, by name."""
        return self._runner.run('volume.list_volume_types', (), self._list)

    def _list(self, db: Db) -> tuple[VolumeType, ...]:
        names = [row['name'] for row in db.rows('SELECT name FROM volume_types ORDER BY name')]
        return tuple(item for item in (self._find(db, name) for name in names) if item)

    def _find(self, db: Db, name: str) -> VolumeType | None:
        """Return a type as the caller, administrator or not, sees it."""
        volume_type = find_type(db, name)
        if volume_type is None or self._runner.sees_all:
            return volume_type
        if not may_use(db, volume_type, self._runner.project(db)):
            return None
        return dataclasses.replace(volume_type, extra_specs={})

    def create_volume_type(self, name: str, extra_specs: Mapping[str, str]) -> VolumeType:
        """Create a private type."""
        return self._runner.run(
            'volume.create_volume_type',
            (name, dict(extra_specs)),
            lambda db: create_type(db, name, extra_specs, public=False),
        )

    def delete_volume_type(self, type_id: str) -> None:
        """Delete a type; a no-op if it does not exist."""
        self._runner.run('volume.delete_volume_type', (type_id,), lambda db: _delete(db, type_id))

    def list_volume_type_projects(self, type_id: str) -> tuple[str, ...]:
        """Return the ids of the projects that may use a private type, sorted."""
        return self._runner.run(
            'volume.list_volume_type_projects', (type_id,), lambda db: _projects(db, type_id)
        )

    def allow_volume_type(self, type_id: str, project_id: str) -> None:
        """Grant a project access to a private type."""
        self._runner.run(
            'volume.allow_volume_type',
            (type_id, project_id),
            lambda db: _allow(db, type_id, project_id),
        )

    def forbid_volume_type(self, type_id: str, project_id: str) -> None:
        """Revoke a project's access to a type."""
        self._runner.run(
            'volume.forbid_volume_type',
            (type_id, project_id),
            lambda db: _forbid(db, type_id, project_id),
        )

    def list_pools(self) -> tuple[Pool, ...]:
        """Return every pool, by name."""
        return self._runner.run('volume.list_pools', (), pools)


def _type(row: sqlite3.Row) -> VolumeType:
    return VolumeType(
        id=row['id'],
        name=row['name'],
        public=bool(row['public']),
        extra_specs=json.loads(row['extra_specs']),
    )


def find_type(db: Db, name: str) -> VolumeType | None:
    """Return the type with this name; None if it does not exist."""
    row = db.row('SELECT * FROM volume_types WHERE name = ?', name)
    return None if row is None else _type(row)


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
    db.run(
        'INSERT INTO volume_types (id, name, public, extra_specs) VALUES (?, ?, ?, ?)',
        made.id,
        made.name,
        made.public,
        json.dumps(made.extra_specs),
    )
    return made


def _delete(db: Db, type_id: str) -> None:
    if db.row(
        'SELECT 1 FROM volumes v JOIN volume_types t ON t.name = v.volume_type WHERE t.id = ?',
        type_id,
    ):
        raise CloudConflict(f'there are volumes of type {type_id}')
    db.run('DELETE FROM volume_types WHERE id = ?', type_id)


def _public(db: Db, type_id: str) -> bool | None:
    row = db.row('SELECT public FROM volume_types WHERE id = ?', type_id)
    return None if row is None else bool(row['public'])


def _projects(db: Db, type_id: str) -> tuple[str, ...]:
    if _public(db, type_id) is not False:
        raise CloudNotFound(f'the simulated cloud has no private volume type {type_id}')
    rows = db.rows(
        'SELECT project_id FROM volume_type_projects WHERE type_id = ? ORDER BY project_id',
        type_id,
    )
    return tuple(row['project_id'] for row in rows)


def _allow(db: Db, type_id: str, project_id: str) -> None:
    public = _public(db, type_id)
    if public is None:
        raise CloudNotFound(f'the simulated cloud has no volume type {type_id}')
    if public:
        raise exceptions.Permanent(f'the volume type {type_id} is public')
    db.run(
        'INSERT OR IGNORE INTO volume_type_projects (type_id, project_id) VALUES (?, ?)',
        type_id,
        project_id,
    )


def _forbid(db: Db, type_id: str, project_id: str) -> None:
    if _public(db, type_id):
        raise exceptions.Permanent(f'the volume type {type_id} is public')
    db.run(
        'DELETE FROM volume_type_projects WHERE type_id = ? AND project_id = ?',
        type_id,
        project_id,
    )


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
