# SPDX-License-Identifier: Apache-2.0

"""What has to leave a resource that has lost capacity."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from climate.allocation.surplus import Claim
from climate.allocation.surplus import surplus
from tests import base
from tests.unit.allocation import strategies
from tests.unit.allocation.strategies import hours

CLASSES = ('VCPU', 'MEMORY_MB')
amounts = st.fixed_dictionaries(dict.fromkeys(CLASSES, st.integers(0, 9)))
lists = st.lists(st.tuples(st.booleans(), strategies.periods, amounts), max_size=8).map(
    lambda found: [
        Claim(reservation_id=str(number), active=active, period=period, amounts=units)
        for number, (active, period, units) in enumerate(found)
    ]
)


def overfull(claims: list[Claim], room: dict[str, int]) -> bool:
    """Whether claims exceed the room in any hour."""
    return any(
        sum(one.amounts[name] for one in claims if one.period.overlaps(hours(hour, hour + 1)))
        > room[name]
        for hour in range(30)
        for name in room
    )


class TestSurplus(base.TestCase):
    """As many leave as must, and no more."""

    @given(lists, amounts)
    def test_the_rest_fits_and_nothing_else_leaves(
        self, claims: list[Claim], room: dict[str, int]
    ) -> None:
        leaving = surplus(claims, room)
        stays = [one for one in claims if one not in leaving]
        self.assertFalse(overfull(stays, room))
        for one in leaving:
            self.assertTrue(overfull([*stays, one], room))

    @given(lists, amounts)
    def test_active_ones_leave_for_active_ones_only(
        self, claims: list[Claim], room: dict[str, int]
    ) -> None:
        active = [one for one in claims if one.active]
        leaving = surplus(claims, room)
        self.assertEqual(surplus(active, room), [one for one in leaving if one.active])

    def test_the_last_to_start_leaves_first(self) -> None:
        early, late, small, later = (
            Claim(reservation_id=name, active=False, period=period, amounts={'VCPU': units})
            for name, period, units in (
                ('early', hours(1, 9), 4),
                ('late', hours(2, 9), 4),
                ('small', hours(3, 9), 2),
                ('later', hours(9, 10), 6),
            )
        )
        self.assertEqual([late], surplus([later, small, late, early], {'VCPU': 6}))
        self.assertEqual([], surplus([later, small, late, early], {'DISK_GB': 0}))
