# SPDX-License-Identifier: Apache-2.0

"""The contract of volumes, held against a real cloud, which has no backups."""

from __future__ import annotations

from tests.contract import paging_contracts
from tests.contract import volume_contracts
from tests.contract import volume_type_contracts
from tests.contract import volume_worlds


class TestRealVolumes(volume_contracts.VolumeContract):
    """Volumes in a real Cinder."""

    world_type = volume_worlds.RealWorld


class TestRealPagedVolumes(paging_contracts.PagedVolumeContract):
    """A list of volumes in a real Cinder."""

    world_type = volume_worlds.RealWorld


class TestRealSnapshots(volume_contracts.SnapshotContract):
    """Snapshots in a real Cinder."""

    world_type = volume_worlds.RealWorld


class TestRealBackups(volume_contracts.BackupContract):
    """Backups in a real Cinder."""

    world_type = volume_worlds.RealWorld


class TestRealVolumeTypes(volume_type_contracts.VolumeTypeContract):
    """Volume types in a real Cinder."""

    world_type = volume_worlds.RealWorld
