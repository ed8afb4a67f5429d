# SPDX-License-Identifier: Apache-2.0

"""The contract of volumes, held against the cloud."""

from __future__ import annotations

from tests.contract import volume_backends
from tests.contract import volume_contracts
from tests.contract import volume_type_contracts
from tests.contract.contracts import held

_CONTRACTS = (
    volume_contracts.VolumeContract,
    volume_contracts.SnapshotContract,
    volume_contracts.BackupContract,
    volume_contracts.NoBackupContract,
    volume_type_contracts.VolumeTypeContract,
)
globals().update(held(__name__, 'MemoryCloud', volume_backends.SimulatedBackend, *_CONTRACTS))
globals().update(held(__name__, 'FileCloud', volume_backends.FileSimulatedBackend, *_CONTRACTS))
