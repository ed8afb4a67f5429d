# SPDX-License-Identifier: Apache-2.0

"""Blocks of hosts with many allocations, made in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from climate.allocation.blocks import Block
from climate.allocation.blocks import BlockFacts
from climate.allocation.blocks import Bookings
from climate.allocation.blocks import SIZE
from climate.allocation.steps import Ints
from climate.domain.resources import Inventory

CLASS: Final = 'VCPU'
UNITS: Final = 64
FULL: Final = 0.85
"""How much of the hosts is in use on average."""

MINUTE: Final = 60 * 10**6
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
NOW: Final = 1_900_000_000 * 10**6


def blocks(hosts: int, *, allocations: int, days: int, seed: int = 1) -> Iterator[Block]:
    """Yield blocks of hosts that are nearly full.

    :param allocations: of each host
    :param days: over which they are spread; each takes 1 to 48 hours
    """
    rng = np.random.default_rng(seed)
    for first in range(0, hosts, SIZE):
        ids = np.arange(first, min(first + SIZE, hosts), dtype=np.int64)
        yield Block.of(_facts(ids, rng, allocations, days))


def _facts(ids: Ints, rng: np.random.Generator, allocations: int, days: int) -> BlockFacts:
    owners = np.repeat(ids, allocations)
    starts = NOW + rng.integers(0, days * 24 * 60, len(owners)) * MINUTE
    lengths = rng.integers(60, 49 * 60, len(owners)) * MINUTE
    at_once = allocations * 25 / (days * 24)
    mean = max(int(UNITS * FULL / at_once), 1)
    booked = Bookings(
        resource_ids=owners,
        starts=starts,
        ends=starts + lengths,
        amounts=rng.integers(1, 2 * mean + 1, len(owners)),
    )
    nothing = owners[:0]
    none = Bookings(resource_ids=nothing, starts=nothing, ends=nothing, amounts=nothing)
    stock = Inventory(resource_class=CLASS, total=UNITS, max_unit=UNITS)
    return BlockFacts(
        ids=ids,
        names=[f'compute-{number}' for number in ids.tolist()],
        generations=np.zeros(len(ids), dtype=np.int64),
        bookable=np.ones(len(ids), dtype=np.bool_),
        returned=np.zeros(len(ids), dtype=np.int64),
        returned_whole=np.zeros(len(ids), dtype=np.int64),
        inventories={CLASS: dict.fromkeys(ids.tolist(), stock)},
        whole=none,
        parts={CLASS: booked},
        out=none,
    )
