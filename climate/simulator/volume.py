# SPDX-License-Identifier: Apache-2.0

"""Simulated volumes of Cinder."""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Mapping

from climate import exceptions
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.cloud.base import Source
from climate.cloud.base import Volume
from climate.simulator import quotas
from climate.simulator import snapshots
from climate.simulator import volume_rows
from climate.simulator import volume_types
from climate.simulator.store import Db
from climate.simulator.verbs import verb

SCHEMA = """
CREATE TABLE IF NOT EXISTS volumes (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    project_id TEXT NOT NULL,
    size_gb INTEGER NOT NULL,
    status TEXT NOT NULL,
    volume_type TEXT NOT NULL,
    availability_zone TEXT NOT NULL,
    pool TEXT NOT NULL,
    metadata TEXT NOT NULL,
    changes_at REAL,
    becomes TEXT
);
CREATE INDEX IF NOT EXISTS volumes_by_pool ON volumes (pool);
"""
ZONE = 'nova'
# Columns that a volume has under the same names.
_SAME = ('id', 'name', 'project_id', 'size_gb', 'volume_type', 'availability_zone', 'pool')

# An attachment ends with its server. A backup in progress changes the status.
_VOLUMES = """
SELECT v.*, s.server_ids, CASE
    WHEN v.status != 'available' THEN v.status
    WHEN EXISTS (SELECT 1 FROM backups b WHERE b.volume_id = v.id AND b.status = 'creating')
    THEN 'backing-up'
    WHEN s.ending THEN 'detaching'
    WHEN s.server_ids IS NOT NULL THEN 'in-use'
    ELSE v.status END AS shown
FROM volumes v LEFT JOIN (
    SELECT a.volume_id, group_concat(a.server_id) AS server_ids, max(a.gone_at) AS ending
    FROM attachments a JOIN servers ON servers.id = a.server_id GROUP BY a.volume_id
) s ON s.volume_id = v.id
"""


def _volume(row: sqlite3.Row) -> Volume:
    return Volume(
        **{name: row[name] for name in _SAME},
        status=row['shown'],
        server_ids=tuple(sorted((row['server_ids'] or '').split(','))) if row['server_ids'] else (),
        metadata=json.loads(row['metadata']),
    )


def volumes(
    db: Db,
    *,
    volume_type: str | None = None,
    pool: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> tuple[Volume, ...]:
    """Return the volumes that meet all conditions, by id."""
    volume_rows.settle(db)
    wanted = dict(metadata or {})
    return tuple(
        found
        for found in map(_volume, db.rows(f'{_VOLUMES} ORDER BY v.id'))
        if volume_type in (None, found.volume_type)
        and pool in (None, found.pool)
        and wanted.items() <= found.metadata.items()
    )


def find_volume(db: Db, volume_id: str) -> Volume | None:
    """Return a volume; None if it does not exist."""
    volume_rows.settle(db)
    row = db.row(f'{_VOLUMES} WHERE v.id = ?', volume_id)
    return None if row is None else _volume(row)


def _size(db: Db, size_gb: int | None, source: Source | None) -> int:
    """Return the size of a new volume, in GiB.

    :raises CloudNotFound: if its source does not exist
    :raises climate.exceptions.Permanent: if the size is missing or too small, the image
        does not exist, or the source is not available
    """
    least = 1 if source is None else _minimum_size(db, source)
    if size_gb is None and (source is None or source.kind == 'image'):
        raise exceptions.Permanent('a volume needs a size')
    if size_gb is not None and size_gb < least:
        raise exceptions.Permanent(f'the size must be at least {least} GiB, got {size_gb}')
    return size_gb or least


def _minimum_size(db: Db, source: Source) -> int:
    volume_rows.settle(db)
    if source.kind != 'image':
        return volume_rows.available_size(db, source.kind, source.id, exceptions.Permanent)
    if not db.has('images', id=source.id):
        raise exceptions.Permanent(f'the simulated cloud has no image {source.id}')
    return 1


def _create_volume(
    db: Db,
    name: str,
    size_gb: int | None,
    *,
    volume_type: str | None = None,
    availability_zone: str | None = None,
    source: Source | None = None,
    metadata: Mapping[str, str] | None = None,
) -> str:
    return create_volume(
        db,
        db.caller.project_id,
        name,
        _size(db, size_gb, source),
        volume_type=volume_type,
        zone=availability_zone,
        metadata=metadata or {},
    )


def create_volume(
    db: Db,
    project_id: str,
    name: str,
    size_gb: int,
    *,
    volume_type: str | None,
    zone: str | None,
    metadata: Mapping[str, str],
    volume_id: str | None = None,
) -> str:
    """Start to create a volume of a project and return its id.

    :param volume_id: a new id if None
    """
    if zone not in (None, ZONE):
        raise exceptions.Permanent(f'the simulated cloud has no zone {zone!r}')
    chosen = volume_types.require(db, volume_type)
    if chosen and not db.caller.sees_all and not volume_types.may_use(db, chosen, project_id):
        raise CloudNotFound(
            f'the simulated cloud has no volume type {volume_type!r} for {project_id}'
        )
    held = [volume for volume in volumes(db) if volume.project_id == project_id]
    quotas.require(db, project_id, 'volumes', len(held) + 1)
    volume_rows.require_gigabytes(db, project_id, size_gb)
    pool = volume_types.choose_pool(db, chosen, size_gb)
    volume_id = volume_id or str(uuid.uuid4())
    db.insert(
        'volumes',
        id=volume_id,
        name=name,
        project_id=project_id,
        size_gb=size_gb,
        status='creating',
        volume_type=chosen.name if chosen else '',
        availability_zone=ZONE,
        pool=pool or '',
        metadata=json.dumps(dict(metadata)),
        changes_at=db.now + db.seconds('volume_creation'),
        becomes='error' if pool is None else 'available',
    )
    return volume_id


def _delete_volume(db: Db, volume_id: str) -> None:
    if volume_rows.may_delete('volume', find_volume(db, volume_id)):
        if db.has('snapshots', volume_id=volume_id):
            raise CloudConflict(f'volume {volume_id} has snapshots')
        volume_rows.begin_deletion(db, 'volume', volume_id)


class SimulatedBlockStorage(snapshots.SimulatedSnapshots, volume_types.SimulatedVolumeTypes):
    """Implements :class:`climate.cloud.base.BlockStorage`."""

    find_volume = verb('volume.find_volume', find_volume)
    list_volumes = verb('volume.list_volumes', volumes)
    create_volume = verb(
        'volume.create_volume',
        _create_volume,
        'name',
        'size_gb',
        'volume_type',
        'availability_zone',
        'source',
    )
    delete_volume = verb('volume.delete_volume', _delete_volume)
