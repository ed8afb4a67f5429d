# SPDX-License-Identifier: Apache-2.0

"""Makes the changes of other users in the simulated Cinder."""

from __future__ import annotations

from climate.cloud.base import Backup
from climate.cloud.base import Volume
from climate.cloud.base import VolumeSnapshot
from climate.simulator import attachments
from climate.simulator import quotas
from climate.simulator import snapshots
from climate.simulator import volume
from climate.simulator import volume_types
from climate.simulator.runner import VerbRunner
from climate.simulator.store import Db
from climate.simulator.store import SimulatorStore

BACKEND = 'lvm'
POOL = 'storage@lvm#lvm'
POOL_GB = 10000.0


class VolumeContents:
    """Changes the state directly: faults do not affect it, nor is it counted."""

    def __init__(self, store: SimulatorStore, runner: VerbRunner) -> None:
        self._store = store
        self._runner = runner

    def seed(self) -> None:
        """Add a pool, a type for it and a backup service, if they are missing."""
        with self._store.transaction(self._runner.now()) as db:
            if not volume_types.pools(db):
                put_pool(db, POOL, BACKEND, POOL_GB)
                db.run("INSERT OR IGNORE INTO backup_services (name) VALUES ('backup')")
            if not volume_types.find_type(db, volume_types.DEFAULT_TYPE):
                specs = {'volume_backend_name': BACKEND}
                volume_types.create_type(db, volume_types.DEFAULT_TYPE, specs, public=True)

    def add_pool(self, name: str, backend_name: str, total_gb: float | None) -> None:
        """Add or change a pool; its size is unlimited if *total_gb* is None."""
        with self._store.transaction(self._runner.now()) as db:
            put_pool(db, name, backend_name, total_gb)

    def set_backup_service(self, present: bool) -> None:
        """Add or remove the backup service."""
        with self._store.transaction(self._runner.now()) as db:
            db.run('DELETE FROM backup_services')
            if present:
                db.run("INSERT INTO backup_services (name) VALUES ('backup')")

    def add_volume(self, name: str, project_id: str, size_gb: int = 1) -> Volume:
        """Create a volume of the default type in a project."""
        with self._store.transaction(self._runner.now()) as db:
            volume_id = volume.create_volume(
                db, project_id, name, size_gb, volume_type=None, zone=None, metadata={}
            )
            created = volume.find_volume(db, volume_id)
            assert created is not None
            return created

    def attach(self, volume_id: str, server_id: str) -> None:
        """Attach a volume to a server."""
        with self._store.transaction(self._runner.now()) as db:
            attachments.attach(db, volume_id, server_id)

    def set_quota(self, project_id: str, resource: str, most: int | None) -> None:
        """Set the quota of a project; None for no limit.

        :param resource: ``volumes``, ``gigabytes``, ``snapshots``, ``backups`` or
            ``backup_gigabytes``
        """
        with self._store.transaction(self._runner.now()) as db:
            quotas.put(db, project_id, resource, most)

    def volumes(self) -> tuple[Volume, ...]:
        """Return every volume, by id."""
        with self._store.transaction(self._runner.now()) as db:
            return volume.volumes(db)

    def snapshots(self) -> tuple[VolumeSnapshot, ...]:
        """Return every snapshot, by id."""
        with self._store.transaction(self._runner.now()) as db:
            return snapshots.all_snapshots(db)

    def backups(self) -> tuple[Backup, ...]:
        """Return every backup, by id."""
        with self._store.transaction(self._runner.now()) as db:
            return snapshots.all_backups(db)


def put_pool(db: Db, name: str, backend_name: str, total_gb: float | None) -> None:
    """Add or change a pool; its size is unlimited if *total_gb* is None."""
    db.run(
        'INSERT OR REPLACE INTO pools (name, backend_name, total_gb) VALUES (?, ?, ?)',
        name,
        backend_name,
        total_gb,
    )
