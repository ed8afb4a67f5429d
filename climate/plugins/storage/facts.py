# SPDX-License-Identifier: Apache-2.0

"""The facts that Climate records for a reservation of storage pools."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from climate.domain.facts import fact
from climate.plugins.volume.facts import CopyFacts


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StorageFacts(CopyFacts):
    """The facts of a reservation of storage pools.

    :ivar volume_types: names of the volume types, by pool
    """

    volume_types: Mapping[str, str] = fact(factory=dict)
