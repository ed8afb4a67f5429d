# SPDX-License-Identifier: Apache-2.0

"""A past and a future in which hosts are used in parts, not whole."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any
from typing import ClassVar

import sqlalchemy as sa

from tests.functional import bulk
from tests.functional.manager import slots

CAPACITY = {'VCPU': 64, 'MEMORY_MB': 262144}
# What is left of one host in this many, of the others nothing.
GAP = 20
LEFT = 2
DEMAND = {'VCPU': 1, 'MEMORY_MB': 2048}

_INVENTORIES = (
    'resource_id, resource_class, total, reserved, min_unit, max_unit, step_size, allocation_ratio'
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Parts(bulk.Load):
    """Two leases at a time have half of each host.

    As with whole hosts, that is for about one hour in three; one host in
    twenty has room for two slots meanwhile. An allocation is a row of one
    class, so a lease has two of a host.
    """

    pieces: int = 2

    reserved_type: ClassVar[str] = slots.RESOURCE_TYPE
    request: ClassVar[str] = json.dumps(
        {'min': 10, 'max': 10, 'demand': DEMAND, 'spread': 'any', 'contrary': False}
    )

    @property
    def slots(self) -> int:
        """How many times each host is used, by two leases at a time."""
        return self.allocations // (self.hosts * len(CAPACITY) * self.pieces)

    @property
    def leases(self) -> int:
        """How many leases that makes."""
        return -(-self.hosts // self.group) * self.slots * self.pieces

    def _fill_leases(self, engine: sa.Engine) -> None:
        inventories = (
            (host, name, total, 0, 1, total, 1, 1.0)
            for host in range(1, self.hosts + 1)
            for name, total in CAPACITY.items()
        )
        bulk.insert(engine, 'inventories', _INVENTORIES, inventories)
        super()._fill_leases(engine)

    def _leases(self) -> Iterator[tuple[bulk.Row, range]]:
        for row, hosts in super()._leases():
            for piece in range(self.pieces):
                yield (f'{piece}{row[0][1:]}', *row[1:]), hosts

    def _taken(self, lease: bulk.Row, host: int) -> Iterator[bulk.Row]:
        state = 'booked' if lease[9] else 'released'
        first = lease[0].startswith('0')
        for name, total in CAPACITY.items():
            left = DEMAND[name] * LEFT if first and host % GAP == 0 else 0
            amount: Any = total // self.pieces - left
            yield (lease[0], host, name, amount, lease[4], lease[5], state)
