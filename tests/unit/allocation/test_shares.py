# SPDX-License-Identifier: Apache-2.0

"""Allocations as slots, and slots as allocations."""

from __future__ import annotations

import dataclasses

from hypothesis import assume
from hypothesis import given
from hypothesis import strategies as st

from climate.allocation import shares
from climate.domain.leases import Allocation
from climate.domain.resources import Candidate
from climate.domain.resources import Share
from tests import base
from tests.unit.allocation import strategies

PERIOD = strategies.hours(1, 2)

demands = st.dictionaries(
    st.sampled_from(['VCPU', 'MEMORY_MB', 'CUSTOM_GPU']), st.integers(0, 5), max_size=3
).filter(lambda demand: not demand or any(demand.values()))
counts = st.dictionaries(st.integers(1, 6), st.integers(1, 5), max_size=5)


def written(has: dict[int, int], demand: dict[str, int]) -> list[Allocation]:
    """Return what is written for so many slots by resource id, with ids."""
    found = shares.allocations(
        'r',
        [
            Share(
                candidate=Candidate(resource_id=key, name=f'compute-{key}', generation=0),
                slots=slots if demand else 1,
            )
            for key, slots in has.items()
        ],
        demand,
        PERIOD,
    )
    return [dataclasses.replace(item, id=number) for number, item in enumerate(found, 1)]


def added(*parts: tuple[Allocation, ...]) -> dict[int, int]:
    """Return amounts by allocation id."""
    found: dict[int, int] = {}
    for item in (item for part in parts for item in part):
        assert item.id is not None
        found[item.id] = found.get(item.id, 0) + item.amount
    return found


class SharesTest(base.TestCase):
    @given(counts, demands)
    def test_what_is_written_is_read_again(
        self, has: dict[int, int], demand: dict[str, int]
    ) -> None:
        current = written(has, demand)
        self.assertEqual(has if demand else dict.fromkeys(has, 1), shares.slots(current, demand))
        wanted = {name: units for name, units in demand.items() if units}
        self.assertEqual(len(has) * (len(wanted) or 1), len(current))
        in_all = shares.total(current)
        for name, units in wanted.items():
            self.assertEqual(units * sum(has.values()), in_all.get(name, 0))

    @given(counts, st.integers(0, 30))
    def test_fewer(self, has: dict[int, int], surplus: int) -> None:
        if surplus > sum(has.values()):
            self.assertRaises(ValueError, shares.fewer, has, surplus)
            return
        left = shares.fewer(has, surplus)
        self.assertEqual(sum(has.values()) - surplus, sum(left.values()))
        self.assertTrue(all(0 < count <= has[key] for key, count in left.items()))
        # At most one resource gives up a part; whoever had less has nothing.
        self.assertLessEqual(len([key for key, count in left.items() if count < has[key]]), 1)
        for key in set(has) - set(left):
            self.assertTrue(all(has[key] <= has[other] for other in left))

    @given(counts, demands, counts)
    def test_cut_divides_everything(
        self, has: dict[int, int], demand: dict[str, int], keep: dict[int, int]
    ) -> None:
        current = written(has, demand)
        stays, goes = shares.cut(current, demand, keep)
        self.assertEqual({item.id: item.amount for item in current}, added(stays, goes))
        has = shares.slots(current, demand)
        expected = {key: min(count, keep[key]) for key, count in has.items() if key in keep}
        self.assertEqual(expected, shares.slots(stays, demand))

    @given(counts, demands.filter(bool), st.data())
    def test_without_removes_what_cut_returned(
        self, has: dict[int, int], demand: dict[str, int], data: st.DataObject
    ) -> None:
        assume(has)
        keep = {key: data.draw(st.integers(0, count)) for key, count in has.items()}
        current = written(has, demand)
        stays, goes = shares.cut(current, demand, keep)
        again, gone = shares.without(current, added(goes))
        self.assertEqual(added(stays), added(again))
        self.assertEqual(added(goes), added(gone))

    def test_what_is_not_written_yet_stays(self) -> None:
        new = dataclasses.replace(written({1: 2}, {'VCPU': 1})[0], id=None)
        self.assertEqual(((new,), ()), shares.without([new], {1: 5}))
