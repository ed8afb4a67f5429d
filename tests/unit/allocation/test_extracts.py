# SPDX-License-Identifier: Apache-2.0

"""Bookings that are added to a block."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from climate.allocation import extracts
from climate.allocation.blocks import Block
from climate.allocation.steps import StepFunctions
from climate.domain.leases import Allocation
from tests import base
from tests.unit.allocation import strategies
from tests.unit.allocation import test_blocks as blocks

additions = st.lists(
    st.tuples(
        st.integers(0, 4),
        strategies.periods,
        st.sampled_from((None, *blocks.CLASSES)),
        st.integers(1, 4),
    ),
    max_size=6,
)


def plain(block: Block) -> dict[str, Any]:
    """Return what is in use of a block, as lists."""

    def steps(functions: StepFunctions) -> tuple[Any, ...]:
        return functions.keys.tolist(), functions.levels.tolist()

    return {
        'occupied': steps(block.occupied),
        'whole': steps(block.whole),
        'used': {name: steps(functions) for name, functions in block.used.items()},
        'periods': {name: sorted(uses.each()) for name, uses in block.periods.items()},
    }


class TestBooked(base.TestCase):
    """One after the other, or together."""

    @given(blocks.hosts, additions)
    def test_both_ways_agree(self, hosts: list[blocks.Host], found: list[Any]) -> None:
        block = blocks.block(hosts)
        news = [
            Allocation(
                reservation_id='r',
                resource_id=row,
                period=period,
                resource_class=name,
                amount=amount if name else 1,
            )
            for row, period, name, amount in found
            if row < len(hosts)
        ]
        rows = {item.resource_id for item in news}
        few = {row: [item for item in news if item.resource_id == row] for row in rows}
        generations = np.arange(len(hosts))
        one = extracts.booked(block, few, generations)
        self.assertEqual(plain(extracts.extended(block, extracts.bookings(news))), plain(one))
        self.assertEqual(generations.tolist(), one.generations.tolist())
        less = extracts.without(one, extracts.bookings(news))
        empty = {name: uses for name, uses in plain(less)['periods'].items() if uses}
        self.assertEqual({**plain(block), 'periods': {}}, {**plain(less), 'periods': empty})
