# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The contract of volumes, held against the twin."""

from __future__ import annotations

from tests.contract import volume_contracts
from tests.contract import volume_type_contracts
from tests.contract import volume_worlds


class TestMemoryTwinVolumes(volume_contracts.VolumeContract):
    """Volumes on the twin in memory."""

    world_type = volume_worlds.TwinWorld


class TestMemoryTwinSnapshots(volume_contracts.SnapshotContract):
    """Snapshots on the twin in memory."""

    world_type = volume_worlds.TwinWorld


class TestMemoryTwinBackups(volume_contracts.BackupContract):
    """Backups on the twin in memory."""

    world_type = volume_worlds.TwinWorld


class TestMemoryTwinWithoutBackups(volume_contracts.NoBackupContract):
    """No service for backups in the twin in memory."""

    world_type = volume_worlds.TwinWorld


class TestMemoryTwinVolumeTypes(volume_type_contracts.VolumeTypeContract):
    """Volume types on the twin in memory."""

    world_type = volume_worlds.TwinWorld


class TestFileTwinVolumes(volume_contracts.VolumeContract):
    """Volumes on the twin on a file."""

    world_type = volume_worlds.FileTwinWorld


class TestFileTwinSnapshots(volume_contracts.SnapshotContract):
    """Snapshots on the twin on a file."""

    world_type = volume_worlds.FileTwinWorld


class TestFileTwinBackups(volume_contracts.BackupContract):
    """Backups on the twin on a file."""

    world_type = volume_worlds.FileTwinWorld


class TestFileTwinWithoutBackups(volume_contracts.NoBackupContract):
    """No service for backups in the twin on a file."""

    world_type = volume_worlds.FileTwinWorld


class TestFileTwinVolumeTypes(volume_type_contracts.VolumeTypeContract):
    """Volume types on the twin on a file."""

    world_type = volume_worlds.FileTwinWorld
