# SPDX-License-Identifier: Apache-2.0

"""The contract of volumes, held against the cloud."""

from __future__ import annotations

from tests.contract import volume_contracts
from tests.contract import volume_type_contracts
from tests.contract import volume_worlds


class TestMemoryCloudVolumes(volume_contracts.VolumeContract):
    """Volumes on the simulated cloud in memory."""

    world_type = volume_worlds.SimulatedWorld


class TestMemoryCloudSnapshots(volume_contracts.SnapshotContract):
    """Snapshots on the simulated cloud in memory."""

    world_type = volume_worlds.SimulatedWorld


class TestMemoryCloudBackups(volume_contracts.BackupContract):
    """Backups on the simulated cloud in memory."""

    world_type = volume_worlds.SimulatedWorld


class TestMemoryCloudWithoutBackups(volume_contracts.NoBackupContract):
    """No service for backups in the simulated cloud in memory."""

    world_type = volume_worlds.SimulatedWorld


class TestMemoryCloudVolumeTypes(volume_type_contracts.VolumeTypeContract):
    """Volume types on the simulated cloud in memory."""

    world_type = volume_worlds.SimulatedWorld


class TestFileCloudVolumes(volume_contracts.VolumeContract):
    """Volumes on the simulated cloud on a file."""

    world_type = volume_worlds.FileSimulatedWorld


class TestFileCloudSnapshots(volume_contracts.SnapshotContract):
    """Snapshots on the simulated cloud on a file."""

    world_type = volume_worlds.FileSimulatedWorld


class TestFileCloudBackups(volume_contracts.BackupContract):
    """Backups on the simulated cloud on a file."""

    world_type = volume_worlds.FileSimulatedWorld


class TestFileCloudWithoutBackups(volume_contracts.NoBackupContract):
    """No service for backups in the simulated cloud on a file."""

    world_type = volume_worlds.FileSimulatedWorld


class TestFileCloudVolumeTypes(volume_type_contracts.VolumeTypeContract):
    """Volume types on the simulated cloud on a file."""

    world_type = volume_worlds.FileSimulatedWorld
