# SPDX-License-Identifier: Apache-2.0

"""Simulated snapshots and backups of Cinder."""

from __future__ import annotations

import uuid

from climate.cloud.base import Backup
from climate.cloud.base import CloudConflict
from climate.cloud.base import VolumeSnapshot
from climate.simulator import quotas
from climate.simulator import volume_rows
from climate.simulator.store import Db
from climate.simulator.verbs import ServiceVerbs
from climate.simulator.verbs import verb

SCHEMA = """
CREATE TABLE IF NOT EXISTS snapshots (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    project_id TEXT NOT NULL,
    volume_id TEXT NOT NULL,
    size_gb INTEGER NOT NULL,
    status TEXT NOT NULL,
    changes_at REAL,
    becomes TEXT
);
CREATE INDEX IF NOT EXISTS snapshots_by_volume ON snapshots (volume_id);
CREATE TABLE IF NOT EXISTS backups (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    project_id TEXT NOT NULL,
    volume_id TEXT NOT NULL,
    size_gb INTEGER NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    changes_at REAL,
    becomes TEXT
);
CREATE INDEX IF NOT EXISTS backups_by_volume ON backups (volume_id);
CREATE TABLE IF NOT EXISTS backup_services (name TEXT PRIMARY KEY) WITHOUT ROWID;
"""
_SNAPSHOTS = 'SELECT id, name, project_id, volume_id, size_gb, status FROM snapshots ORDER BY id'
_BACKUPS = (
    'SELECT id, name, project_id, volume_id, size_gb, status, reason FROM backups ORDER BY id'
)
NO_SERVICE = 'Service not found for creating backup.'


def all_snapshots(db: Db) -> tuple[VolumeSnapshot, ...]:
    """Return every snapshot, by id."""
    volume_rows.settle(db)
    return tuple(VolumeSnapshot(**dict(row)) for row in db.rows(_SNAPSHOTS))


def _find_snapshot(db: Db, snapshot_id: str) -> VolumeSnapshot | None:
    return next((each for each in all_snapshots(db) if each.id == snapshot_id), None)


def _list_snapshots(db: Db, volume_id: str) -> tuple[VolumeSnapshot, ...]:
    return tuple(each for each in all_snapshots(db) if each.volume_id == volume_id)


def _create_snapshot(db: Db, volume_id: str, name: str) -> str:
    project_id = db.caller.project_id
    volume_rows.settle(db)
    size = volume_rows.available_size(db, 'volume', volume_id, CloudConflict)
    held = db.rows('SELECT 1 FROM snapshots WHERE project_id = ?', project_id)
    quotas.require(db, project_id, 'snapshots', len(held) + 1)
    volume_rows.require_gigabytes(db, project_id, size)
    snapshot_id = str(uuid.uuid4())
    db.insert(
        'snapshots',
        id=snapshot_id,
        name=name,
        project_id=project_id,
        volume_id=volume_id,
        size_gb=size,
        status='creating',
        changes_at=db.now + db.seconds('snapshot_creation'),
        becomes='available',
    )
    return snapshot_id


def _delete_snapshot(db: Db, snapshot_id: str) -> None:
    if volume_rows.may_delete('snapshot', _find_snapshot(db, snapshot_id)):
        volume_rows.begin_deletion(db, 'snapshot', snapshot_id)


def all_backups(db: Db) -> tuple[Backup, ...]:
    """Return every backup, by id."""
    volume_rows.settle(db)
    return tuple(Backup(**dict(row)) for row in db.rows(_BACKUPS))


def _find_backup(db: Db, backup_id: str) -> Backup | None:
    return next((each for each in all_backups(db) if each.id == backup_id), None)


def _list_backups(db: Db, volume_id: str) -> tuple[Backup, ...]:
    return tuple(each for each in all_backups(db) if each.volume_id == volume_id)


def has_backup_service(db: Db) -> bool:
    """Return whether the cloud has a backup service."""
    return db.row('SELECT 1 FROM backup_services') is not None


def _create_backup(db: Db, volume_id: str, name: str) -> str:
    project_id = db.caller.project_id
    volume_rows.settle(db)
    size = volume_rows.available_size(db, 'volume', volume_id, CloudConflict)
    if db.row("SELECT 1 FROM backups WHERE volume_id = ? AND status = 'creating'", volume_id):
        raise CloudConflict(f'volume {volume_id} is backing-up')
    held = db.rows('SELECT size_gb FROM backups WHERE project_id = ?', project_id)
    quotas.require(db, project_id, 'backups', len(held) + 1)
    taken = sum(row['size_gb'] for row in held)
    quotas.require(db, project_id, 'backup_gigabytes', taken + size)
    backup_id = str(uuid.uuid4())
    served = has_backup_service(db)
    db.insert(
        'backups',
        id=backup_id,
        name=name,
        project_id=project_id,
        volume_id=volume_id,
        size_gb=size,
        status='creating',
        reason='' if served else NO_SERVICE,
        # Without a service, it fails at once, when Cinder looks for one.
        changes_at=db.now + (db.seconds('backup_creation') if served else 0.0),
        becomes='available' if served else 'error',
    )
    return backup_id


def _delete_backup(db: Db, backup_id: str) -> None:
    if volume_rows.may_delete('backup', _find_backup(db, backup_id)):
        if not has_backup_service(db):
            raise CloudConflict('the simulated cloud has no service to delete backups')
        volume_rows.begin_deletion(db, 'backup', backup_id)


class SimulatedSnapshots(ServiceVerbs):
    """Implements the protocols of :mod:`climate.cloud.protocols.volumes`."""

    find_snapshot = verb('volume.find_snapshot', _find_snapshot)
    list_snapshots = verb('volume.list_snapshots', _list_snapshots)
    create_snapshot = verb('volume.create_snapshot', _create_snapshot)
    delete_snapshot = verb('volume.delete_snapshot', _delete_snapshot)
    find_backup = verb('volume.find_backup', _find_backup)
    list_backups = verb('volume.list_backups', _list_backups)
    create_backup = verb('volume.create_backup', _create_backup)
    delete_backup = verb('volume.delete_backup', _delete_backup)
