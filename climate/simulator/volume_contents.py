# SPDX-License-Identifier: Apache-2.0

"""Makes the changes of other users in the simulated Cinder."""

from __future__ import annotations

from climate.cloud.base import Volume
from climate.simulator import attachments
from climate.simulator import quotas
from climate.simulator import snapshots
from climate.simulator import volume
from climate.simulator import volume_types
from climate.simulator.store import Db
from climate.simulator.verbs import direct
from climate.simulator.verbs import StateOwner

BACKEND = 'lvm'
POOL = 'storage@lvm#lvm'
POOL_GB = 10000.0


def _seed(db: Db) -> None:
    """Add a pool, a type for it and a backup service, if they are missing."""
    if not volume_types.pools(db):
        put_pool(db, POOL, BACKEND, POOL_GB)
        db.insert('backup_services', or_else='IGNORE', name='backup')
    if not volume_types.find_type(db, volume_types.DEFAULT_TYPE):
        specs = {'volume_backend_name': BACKEND}
        volume_types.create_type(db, volume_types.DEFAULT_TYPE, specs, public=True)


def _set_backup_service(db: Db, present: bool) -> None:
    """Add or remove the backup service."""
    db.run('DELETE FROM backup_services')
    if present:
        db.insert('backup_services', name='backup')


def _add_volume(db: Db, name: str, project_id: str, size_gb: int = 1) -> Volume:
    """Create a volume of the default type in a project."""
    volume_id = volume.create_volume(
        db, project_id, name, size_gb, volume_type=None, zone=None, metadata={}
    )
    created = volume.find_volume(db, volume_id)
    assert created is not None
    return created


def put_pool(db: Db, name: str, backend_name: str, total_gb: float | None) -> None:
    """Add or change a pool; its size is unlimited if *total_gb* is None."""
    db.insert('pools', or_else='REPLACE', name=name, backend_name=backend_name, total_gb=total_gb)


class VolumeContents(StateOwner):
    """Changes the state directly."""

    seed = direct(_seed)
    add_pool = direct(put_pool)
    set_backup_service = direct(_set_backup_service)
    add_volume = direct(_add_volume)
    attach = direct(attachments.attach)
    set_quota = direct(quotas.put)
    volumes = direct(volume.volumes)
    backups = direct(snapshots.all_backups)
    snapshots = direct(snapshots.all_snapshots)
