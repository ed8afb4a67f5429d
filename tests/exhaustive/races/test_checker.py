# SPDX-License-Identifier: Apache-2.0

"""The checker of histories accepts exactly the histories that are possible."""

from __future__ import annotations

import collections
import dataclasses
import itertools
import multiprocessing
from collections.abc import Sequence

import hypothesis
import sqlalchemy as sa
from hypothesis import strategies as st

from tests import base
from tests.exhaustive.races import gates
from tests.exhaustive.races import histories
from tests.exhaustive.races.histories import Operation
from tests.exhaustive.races.histories import Use

CAPACITY = {1: 4, 2: 3}
HOURS = 4
SETTINGS = hypothesis.settings(deadline=None, database=None, max_examples=150)

demands = st.tuples(
    st.booleans(), st.integers(1, 4), st.integers(0, HOURS - 1), st.integers(1, HOURS)
)
slacks = st.tuples(st.floats(0, 3), st.floats(0, 3))


def most(uses: Sequence[Use], resource: int) -> int:
    """Return the maximum use of a resource in any hour."""
    return max(
        sum(use.units for use in uses if use.resource == resource and use.start <= hour < use.end)
        for hour in range(HOURS)
    )


def played(drawn: Sequence[tuple[bool, int, int, int]]) -> list[Operation]:
    """Return the operations of a single process, at the instants 0, 1, 2…"""
    uses: list[Use] = []
    found = []
    for instant, (deletes, units, start, length) in enumerate(drawn):
        when = {'begun': float(instant), 'ended': float(instant)}
        end = min(start + length, HOURS)
        if deletes and uses:
            gone = uses.pop(units % len(uses))
            found.append(Operation(**when, gone=(gone,)))
            continue
        fitting = [
            use
            for use in (Use(resource, units, start, end) for resource in CAPACITY)
            if most([*uses, use], use.resource) <= CAPACITY[use.resource]
        ]
        if fitting:
            uses.append(fitting[0])
            found.append(Operation(**when, came=(fitting[0],)))
        else:
            found.append(Operation(**when, unfit=(units, start, end)))
    return found


def possible(history: Sequence[Operation]) -> bool:
    """Whether there is a valid order, found by trying all orders."""
    return any(_right(order) for order in itertools.permutations(history))


def _right(order: Sequence[Operation]) -> bool:
    uses: collections.Counter[Use] = collections.Counter()
    for place, operation in enumerate(order):
        if any(later.ended < operation.begun for later in order[place + 1 :]):
            return False
        if operation.unfit is not None:
            units, start, end = operation.unfit
            for resource, room in CAPACITY.items():
                more = [*uses.elements(), Use(resource, units, start, end)]
                if most(more, resource) <= room:
                    return False
            continue
        if any(not uses[use] for use in operation.gone):
            return False
        uses.subtract(operation.gone)
        uses.update(operation.came)
        if any(most(list(uses.elements()), each) > room for each, room in CAPACITY.items()):
            return False
    return True


class TestChecker(base.TestCase):
    """Possible histories are accepted, and impossible ones are not."""

    @SETTINGS
    @hypothesis.given(st.lists(demands, max_size=40))
    def test_what_one_process_does_has_an_order(self, drawn):
        history = played(drawn)
        self.assertEqual(history, histories.order(history, CAPACITY))

    @SETTINGS
    @hypothesis.given(st.lists(st.tuples(demands, slacks), max_size=25), st.randoms())
    def test_what_overlaps_has_an_order(self, drawn, rng):
        history = [
            dataclasses.replace(each, begun=each.begun - early, ended=each.ended + late)
            for each, (_, (early, late)) in zip(
                played([request for request, _ in drawn]), drawn, strict=True
            )
        ]
        rng.shuffle(history)
        found = histories.order(history, CAPACITY)
        self.assertIsNotNone(found)
        self.assertEqual(sorted(history, key=repr), sorted(found or (), key=repr))

    @SETTINGS
    @hypothesis.given(st.lists(demands, min_size=10, max_size=30), st.sampled_from([1, 2]))
    def test_what_found_no_room_cannot_be_accepted(self, drawn, resource):
        history = played(drawn)
        refused = [place for place, each in enumerate(history) if each.unfit]
        hypothesis.assume(refused)
        place = refused[0]
        use = Use(resource, *history[place].unfit)
        history[place] = dataclasses.replace(history[place], unfit=None, came=(use,))
        self.assertIsNone(histories.order(history, CAPACITY))

    @SETTINGS
    @hypothesis.given(st.lists(demands, min_size=1, max_size=30))
    def test_what_found_room_cannot_be_refused(self, drawn):
        history = played(drawn)
        place = next(place for place, each in enumerate(history) if each.came or each.unfit)
        hypothesis.assume(history[place].came)
        use = history[place].came[0]
        history = [
            dataclasses.replace(each, came=(), unfit=(use.units, use.start, use.end))
            if each is history[place]
            else each
            for each in history
            if use not in each.gone
        ]
        self.assertIsNone(histories.order(history, CAPACITY))

    @SETTINGS
    @hypothesis.given(
        st.lists(
            st.tuples(
                st.sampled_from(['came', 'gone', 'unfit']),
                st.integers(1, 2),
                st.integers(2, 4),
                st.integers(0, 3),
                st.integers(0, 2),
            ),
            max_size=5,
        )
    )
    def test_it_says_what_trying_every_order_says(self, drawn):
        history = []
        for what, resource, units, begun, lasts in drawn:
            use = Use(resource, units, 0, HOURS)
            value = (units, 0, HOURS) if what == 'unfit' else (use,)
            history.append(
                Operation(begun=float(begun), ended=float(begun + lasts), **{what: value})
            )
        found = histories.order(history, CAPACITY)
        self.assertEqual(possible(history), found is not None)

    def test_what_had_ended_comes_first(self):
        use = Use(1, 4, 0, 1)
        first = Operation(begun=0, ended=1, came=(use,))
        second = Operation(begun=2, ended=3, came=(use,))
        gone = Operation(begun=4, ended=5, gone=(use,))
        self.assertIsNone(histories.order([first, second, gone], CAPACITY))
        earlier = dataclasses.replace(gone, begun=1.5)
        expected = [first, earlier, second]
        self.assertEqual(expected, histories.order([first, second, earlier], CAPACITY))

    def test_what_there_is_may_change(self):
        use = Use(1, 4, 0, 1)
        less = Operation(begun=0, ended=3, stocked=((1, 3),))
        booked = Operation(begun=1, ended=2, came=(use,))
        gone = Operation(begun=1, ended=4, gone=(use,))
        self.assertIsNone(histories.order([less, booked], CAPACITY))
        self.assertEqual([booked, gone, less], histories.order([less, booked, gone], CAPACITY))


class TestGate(base.TestCase):
    """What the gate of a process sees of a transaction."""

    def seen(self, *statements):
        """Return the transaction that sends statements."""
        engine = sa.create_engine('sqlite://')
        self.addCleanup(engine.dispose)
        with engine.begin() as connection:
            connection.exec_driver_sql('CREATE TABLE allocations (id)')
        gate = gates.StatementGate(engine, gates.SharedCounters(multiprocessing))
        gate.enter(gates.RoundPlan(count=1, mode='free'))
        with engine.begin() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)
        (found,) = gate.transactions
        return found.writes, found.allocates

    def test_what_writes_and_allocates(self):
        self.assertEqual((False, False), self.seen('SELECT * FROM allocations'))
        self.assertEqual((True, False), self.seen('DELETE FROM allocations'))
        self.assertEqual((True, True), self.seen('INSERT INTO allocations VALUES (1)'))
        several = 'WITH leases_0 AS (SELECT 1) INSERT INTO allocations SELECT * FROM leases_0'
        self.assertEqual((True, True), self.seen(several))
