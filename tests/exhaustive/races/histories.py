# SPDX-License-Identifier: Apache-2.0

"""A linearizability checker for the responses to several processes.

Each operation has to take effect at one instant between its begin and its end. A history
is linearizable if its operations have an order that is consistent with the clock (an
operation that ended before another one began comes first), in which accepted operations
never exceed the capacity, and in which operations refused for lack of room found none.

The search is that of Wing and Gong: choose any operation that may come next, continue,
and backtrack at dead ends. The state depends only on the set of operations done, not on
their order, so each set is visited once. Only operations in progress at the same instant
can be swapped, so there are few sets.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

Capacity = Mapping[int, int]
"""Units by resource."""


@dataclasses.dataclass(frozen=True, order=True, slots=True)
class Use:
    """Units of a resource from one hour to another."""

    resource: int
    units: int
    start: float
    end: float


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """An operation of a process, in seconds on a clock that all processes share.

    :ivar gone: the units that it released
    :ivar came: the units that it booked
    :ivar stocked: new capacities that it set, by resource
    :ivar unfit: a request that was refused for lack of room: units, start and end on one
        resource; None if it was not refused
    """

    begun: float
    ended: float
    process: int = 0
    text: str = ''
    gone: tuple[Use, ...] = ()
    came: tuple[Use, ...] = ()
    stocked: tuple[tuple[int, int], ...] = ()
    unfit: tuple[int, float, float] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class _State:
    """The used units and the capacity."""

    uses: tuple[Use, ...]
    capacity: tuple[tuple[int, int], ...]

    def after(self, operation: Operation) -> _State | None:
        """Return the state after an operation; None if it cannot come next."""
        if operation.unfit is not None:
            return None if self._fits(operation) else self
        left = collections.Counter(self.uses)
        for use in operation.gone:
            if not left[use]:
                return None
            left[use] -= 1
        uses = tuple(sorted([*left.elements(), *operation.came]))
        capacity = tuple(sorted({**dict(self.capacity), **dict(operation.stocked)}.items()))
        state = _State(uses, capacity)
        return state if not state._full() else None

    def _fits(self, operation: Operation) -> bool:
        """Whether a resource has room for a refused request, without its own units."""
        assert operation.unfit is not None
        units, start, end = operation.unfit
        others = collections.Counter(self.uses) - collections.Counter(operation.gone)
        return any(
            not _State((*others.elements(), Use(resource, units, start, end)), self.capacity)._full(
                resource
            )
            for resource, _ in self.capacity
        )

    def _full(self, only: int | None = None) -> bool:
        """Whether more is used than the capacity, at any instant."""
        capacity = dict(self.capacity)
        for use in self.uses:
            if only is not None and use.resource != only:
                continue
            there = sum(
                other.units
                for other in self.uses
                if other.resource == use.resource and other.start <= use.start < other.end
            )
            if there > capacity.get(use.resource, 0):
                return True
        return False


def order(history: Sequence[Operation], capacity: Capacity) -> list[Operation] | None:
    """Return the operations in a valid order; None if there is none."""
    first = _State((), tuple(sorted(capacity.items())))
    everything = (1 << len(history)) - 1
    seen = {0}
    path: list[int] = []
    stack = [_next(history, 0, first)]
    done = 0
    while stack:
        if done == everything:
            return [history[place] for place in path]
        for place, state in stack[-1]:
            reached = done | 1 << place
            if reached not in seen:
                seen.add(reached)
                path.append(place)
                done = reached
                stack.append(_next(history, done, state))
                break
        else:
            stack.pop()
            if path:
                done &= ~(1 << path.pop())
    return None


def _next(history: Sequence[Operation], done: int, state: _State) -> Iterator[tuple[int, _State]]:
    """Yield the operations that may come next, with the state after each."""
    left = [place for place in range(len(history)) if not done >> place & 1]
    horizon = min((history[place].ended for place in left), default=0.0)
    for place in left:
        if history[place].begun <= horizon:
            after = state.after(history[place])
            if after is not None:
                yield place, after


def without_refusals(history: Iterable[Operation]) -> list[Operation]:
    """Return a history with only the accepted operations."""
    return [operation for operation in history if operation.unfit is None]
