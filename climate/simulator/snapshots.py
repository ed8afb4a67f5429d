# SPDX-License-Identifier: Apache-2.0

"""Simulated snapshots and backups of Cinder."""

from __future__ import annotations

import sqlite3
import uuid

from climate.cloud.base import Backup
from climate.cloud.base import CloudConflict
from climate.cloud.base import VolumeSnapshot
from climate.simulator import quotas
from climate.simulator import volume_rows
from climate.simulator.runner import VerbRunner
from climate.simulator.store import Db

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
NO_SERVICE = 'Service not found for creating backup.'


class SimulatedSnapshots:
    """Implements the protocols of :mod:`climate.cloud.protocols.snapshots`."""

    _runner: VerbRunner

    def find_snapshot(self, snapshot_id: str) -> VolumeSnapshot | None:
        """Return a snapshot; None if it does not exist."""
        return self._runner.run(
            'volume.find_snapshot', (snapshot_id,), lambda db: _find_snapshot(db, snapshot_id)
        )

    def list_snapshots(self, volume_id: str) -> tuple[VolumeSnapshot, ...]:
        """Return the snapshots of a volume, by id."""
        return self._runner.run(
            'volume.list_snapshots', (volume_id,), lambda db: _list_snapshots(db, volume_id)
        )

    def create_snapshot(self, volume_id: str, name: str) -> str:
        """Start to create a snapshot of a volume and return its id."""
        return self._runner.run(
            'volume.create_snapshot',
            (volume_id, name),
            lambda db: _create_snapshot(db, self._runner.project(db), volume_id, name),
        )

    def delete_snapshot(self, snapshot_id: str) -> None:
        """Start to delete a snapshot; a no-op if it is gone or being deleted."""
        self._runner.run(
            'volume.delete_snapshot', (snapshot_id,), lambda db: _delete_snapshot(db, snapshot_id)
        )

    def find_backup(self, backup_id: str) -> Backup | None:
        """Return a backup; None if it does not exist."""
        return self._runner.run(
            'volume.find_backup', (backup_id,), lambda db: _find_backup(db, backup_id)
        )

    def list_backups(self, volume_id: str) -> tuple[Backup, ...]:
        """Return the backups of a volume, by id."""
        return self._runner.run(
            'volume.list_backups', (volume_id,), lambda db: _list_backups(db, volume_id)
        )

    def create_backup(self, volume_id: str, name: str) -> str:
        """Start to create a backup of a volume and return its id."""
        return self._runner.run(
            'volume.create_backup',
            (volume_id, name),
            lambda db: _create_backup(db, self._runner.project(db), volume_id, name),
        )

    def delete_backup(self, backup_id: str) -> None:
        """Start to delete a backup; a no-op if it is gone or being deleted."""
        self._runner.run(
            'volume.delete_backup', (backup_id,), lambda db: _delete_backup(db, backup_id)
        )


def _snapshot(row: sqlite3.Row) -> VolumeSnapshot:
    return VolumeSnapshot(
        id=row['id'],
        name=row['name'],
        project_id=row['project_id'],
        volume_id=row['volume_id'],
        size_gb=row['size_gb'],
        status=row['status'],
    )


def _find_snapshot(db: Db, snapshot_id: str) -> VolumeSnapshot | None:
    volume_rows.settle(db)
    row = db.row('SELECT * FROM snapshots WHERE id = ?', snapshot_id)
    return None if row is None else _snapshot(row)


def all_snapshots(db: Db) -> tuple[VolumeSnapshot, ...]:
    """Return every snapshot, by id."""
    volume_rows.settle(db)
    return tuple(_snapshot(row) for row in db.rows('SELECT * FROM snapshots ORDER BY id'))


def _list_snapshots(db: Db, volume_id: str) -> tuple[VolumeSnapshot, ...]:
    return tuple(snapshot for snapshot in all_snapshots(db) if snapshot.volume_id == volume_id)


def _create_snapshot(db: Db, project_id: str, volume_id: str, name: str) -> str:
    volume_rows.settle(db)
    size = volume_rows.available_size(db, 'volume', volume_id, CloudConflict)
    held = db.rows('SELECT 1 FROM snapshots WHERE project_id = ?', project_id)
    quotas.require(db, project_id, 'snapshots', len(held) + 1)
    volume_rows.require_gigabytes(db, project_id, size)
    snapshot_id = str(uuid.uuid4())
    db.run(
        'INSERT INTO snapshots (id, name, project_id, volume_id, size_gb, status, changes_at,'
        " becomes) VALUES (?, ?, ?, ?, ?, 'creating', ?, 'available')",
        snapshot_id,
        name,
        project_id,
        volume_id,
        size,
        db.now + db.seconds('snapshot_creation'),
    )
    return snapshot_id


def _delete_snapshot(db: Db, snapshot_id: str) -> None:
    if volume_rows.may_delete('snapshot', _find_snapshot(db, snapshot_id)):
        volume_rows.begin_deletion(db, 'snapshot', snapshot_id)


def _backup(row: sqlite3.Row) -> Backup:
    return Backup(
        id=row['id'],
        name=row['name'],
        project_id=row['project_id'],
        volume_id=row['volume_id'],
        size_gb=row['size_gb'],
        status=row['status'],
        reason=row['reason'],
    )


def _find_backup(db: Db, backup_id: str) -> Backup | None:
    volume_rows.settle(db)
    row = db.row('SELECT * FROM backups WHERE id = ?', backup_id)
    return None if row is None else _backup(row)


def all_backups(db: Db) -> tuple[Backup, ...]:
    """Return every backup, by id."""
    volume_rows.settle(db)
    return tuple(_backup(row) for row in db.rows('SELECT * FROM backups ORDER BY id'))


def _list_backups(db: Db, volume_id: str) -> tuple[Backup, ...]:
    return tuple(backup for backup in all_backups(db) if backup.volume_id == volume_id)


def has_backup_service(db: Db) -> bool:
    """Return whether the cloud has a backup service."""
    return db.row('SELECT 1 FROM backup_services') is not None


def _create_backup(db: Db, project_id: str, volume_id: str, name: str) -> str:
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
    db.run(
        'INSERT INTO backups (id, name, project_id, volume_id, size_gb, status, reason,'
        " changes_at, becomes) VALUES (?, ?, ?, ?, ?, 'creating', ?, ?, ?)",
        backup_id,
        name,
        project_id,
        volume_id,
        size,
        '' if served else NO_SERVICE,
        # Without a service, it fails at once, when Cinder looks for one.
        db.now + (db.seconds('backup_creation') if served else 0.0),
        'available' if served else 'error',
    )
    return backup_id


def _delete_backup(db: Db, backup_id: str) -> None:
    if volume_rows.may_delete('backup', _find_backup(db, backup_id)):
        if not has_backup_service(db):
            raise CloudConflict('the simulated cloud has no service to delete backups')
        volume_rows.begin_deletion(db, 'backup', backup_id)
