# SPDX-License-Identifier: Apache-2.0

"""The facts that Climate records for a reservation of volumes, and for their copies."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from climate.domain.facts import fact
from climate.domain.facts import Facts


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class CopyFacts(Facts):
    """The facts of a reservation whose volumes are copied when it ends.

    :ivar copies: the finished snapshots and backups, as the API shows them
    """

    copies: tuple[Mapping[str, str], ...] = fact((), read=tuple)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class VolumeFacts(CopyFacts):
    """The facts of a reservation of volumes.

    :ivar volumes: their ids in Cinder, by number as text
    :ivar ready: how many were ready for their owner, who manages those from then on
    :ivar calls: the call that created each of them, by number as text
    """

    volumes: Mapping[str, str] = fact(factory=dict)
    ready: int = 0
    calls: Mapping[str, str] = fact(factory=dict)

    def ended(self) -> VolumeFacts:
        """Return the facts without the volumes."""
        return dataclasses.replace(self, volumes={}, ready=0, calls={})
