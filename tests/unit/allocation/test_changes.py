# SPDX-License-Identifier: Apache-2.0

"""A change keeps every allocation it can, and takes nothing that runs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from climate.allocation import changes
from tests import base
from tests.unit.allocation import strategies
from tests.unit.allocation.strategies import hours

current = st.lists(st.integers(1, 9), unique=True, max_size=6).map(
    lambda ids: [strategies.taken(number, hours(0, 4)) for number in ids]
)
good = st.sets(st.integers(1, 9))


class KeepTest(base.TestCase):
    @given(current, good, st.integers(0, 6), st.integers(0, 4))
    def test_everything_that_can_be_kept_is_kept(
        self, has: list, still_good: set[int], minimum: int, extra: int
    ) -> None:
        maximum = minimum + extra
        result = changes.keep(has, still_good, minimum, maximum, running=False)
        can_stay = [one for one in has if one.resource_id in still_good]
        self.assertEqual(min(len(can_stay), maximum), len(result.kept))
        self.assertTrue(set(result.kept) <= set(can_stay))
        self.assertCountEqual(has, [*result.kept, *result.dropped])
        self.assertEqual(max(0, minimum - len(result.kept)), result.missing_minimum)
        self.assertEqual(maximum, len(result.kept) + result.missing_maximum)
        self.assertGreaterEqual(result.missing_maximum, result.missing_minimum)

    @given(current, good, st.integers(0, 6), st.integers(0, 4))
    def test_what_runs_is_kept_whole_or_refused(
        self, has: list, still_good: set[int], minimum: int, extra: int
    ) -> None:
        free = changes.keep(has, still_good, minimum, minimum + extra, running=False)
        if free.dropped:
            error = self.assertRaises(
                changes.WouldTakeRunning,
                changes.keep, has, still_good, minimum, minimum + extra, running=True,
            )  # fmt: skip
            self.assertEqual({one.resource_name for one in free.dropped}, set(error.names))
        else:
            running = changes.keep(has, still_good, minimum, minimum + extra, running=True)
            self.assertEqual(free, running)
            self.assertEqual(tuple(has), running.kept)

    def test_the_first_ones_stay(self) -> None:
        has = [strategies.taken(number, hours(0, 4)) for number in (3, 1, 2)]
        result = changes.keep(has, {1, 2, 3}, 1, 2, running=False)
        self.assertEqual((3, 1), tuple(one.resource_id for one in result.kept))
        self.assertEqual((2,), tuple(one.resource_id for one in result.dropped))

    def test_more_are_wanted(self) -> None:
        has = [strategies.taken(1, hours(0, 4)), strategies.taken(2, hours(0, 4))]
        result = changes.keep(has, [1], 3, 5, running=False)
        self.assertEqual((2, 4), (result.missing_minimum, result.missing_maximum))

    def test_the_refusal_names_what_runs(self) -> None:
        has = [strategies.taken(1, hours(0, 4)), strategies.taken(2, hours(0, 4))]
        error = self.assertRaises(changes.WouldTakeRunning, changes.keep, has, [1], 1, 2, True)
        self.assertEqual(('compute-2',), error.names)
        self.assertIn('compute-2', str(error))
        self.assertIsInstance(error, ValueError)

    def test_bounds_that_make_no_sense(self) -> None:
        self.assertRaises(ValueError, changes.keep, [], [], 3, 2, False)
        self.assertRaises(ValueError, changes.keep, [], [], -1, 2, False)
