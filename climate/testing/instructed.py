# SPDX-License-Identifier: Apache-2.0

"""Checks the instructions of a type for using its reservations."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping

from climate.domain.holdings import Holding
from climate.domain.leases import Lease
from climate.leases import reading
from climate.plugins import instructions
from climate.plugins.instructions import Instruction
from climate.testing.kinds import LeasedType
from climate.testing.promised import BookedLease
from climate.testing.restorable import RestorableDeployment
from climate.testing.walker import END
from climate.testing.walker import START


class Instructed:
    """A lease of one kind, with the instructions for its reservations.

    :ivar active: the instructions while the lease is active, by resource type
    """

    def __init__(self, site: RestorableDeployment, kind: LeasedType) -> None:
        self._site = site
        self._lease = BookedLease(site, kind).lease
        self.active: Mapping[str, list[Instruction]] = {}

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with the instructions, before the start and after it."""
        yield from self._faults('before the start')
        self._site.until((START + END) / 2)
        yield from self._faults('while the lease is active')
        lease = self._now()
        self.active = {one.resource_type: [] for one in lease.reservations}
        for one in lease.reservations:
            plugin, holding = self._site.plugins[one.resource_type], one.holding or Holding()
            self.active[one.resource_type] += reading.instructions(plugin, one, holding)

    def _now(self) -> Lease:
        with self._site.store.reading() as tx:
            return tx.holdings.added(tx.leases.get(self._lease.id))

    def _faults(self, when: str) -> Iterator[str]:
        for one in self._now().reservations:
            # Not through reading.py, which hides errors of plugins.
            shown = self._site.plugins[one.resource_type].instructions(
                one, (one.holding or Holding()).resources
            )
            for each in shown:
                wrong = instructions.fault(each)
                if wrong:
                    yield f'{one.resource_type}, {when}: {wrong}'
