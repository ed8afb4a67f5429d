# SPDX-License-Identifier: Apache-2.0

"""The contract of volumes, held against a real cloud, which has no backups."""

from __future__ import annotations

from tests.contract import paging_contracts
from tests.contract import volume_backends
from tests.contract import volume_contracts
from tests.contract import volume_type_contracts
from tests.contract.contracts import held

globals().update(
    held(
        __name__,
        'Real',
        volume_backends.RealBackend,
        volume_contracts.VolumeContract,
        paging_contracts.PagedVolumeContract,
        volume_contracts.SnapshotContract,
        volume_contracts.BackupContract,
        volume_type_contracts.VolumeTypeContract,
    )
)
