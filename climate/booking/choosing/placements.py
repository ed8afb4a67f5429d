# SPDX-License-Identifier: Apache-2.0

"""Places the members of reservations, for :mod:`climate.booking.choosing.choose`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Protocol
from typing import TypeVar

import numpy as np

from climate import exceptions
from climate.allocation import placement
from climate.allocation import shares as slots
from climate.allocation.placement_problem import EvenSpread
from climate.allocation.placement_problem import Group
from climate.allocation.placement_problem import Problem
from climate.allocation.placement_problem import Same
from climate.allocation.placement_problem import UNLABELED
from climate.allocation.placement_problem import Usage
from climate.allocation.steps import Ints
from climate.booking.choosing import refusals
from climate.booking.choosing.requirements import Requirements
from climate.db.search.search import Labels
from climate.db.transactions.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.placements import MemberPlacement
from climate.domain.placements import Preference
from climate.domain.resources import Candidate
from climate.domain.resources import Share
from climate.domain.resources import Spread

T = TypeVar('T')

_ANYWHERE = MemberPlacement()


class Stock(Protocol):
    """The resources that are there for a lease."""

    tx: Transaction

    def every(self, needed: Requirements) -> tuple[list[Candidate], dict[int, Mapping[str, int]]]:
        """Return all free resources, the best first, and the free units by resource id."""
        ...

    def held(self, reservation_id: str) -> Sequence[Allocation]:
        """Return the allocations that a reservation of the lease has or keeps."""
        ...


class Supplier(Stock, Protocol):
    """The :class:`climate.booking.choosing.choose.Chooser`."""

    def each(
        self, order: Iterable[int], needed: Sequence[Requirements]
    ) -> dict[int, tuple[Allocation, ...]] | int:
        """Choose for reservations one after the other."""
        ...

    def placed(self, needed: Sequence[Requirements]) -> list[tuple[Allocation, ...]] | int:
        """Choose for reservations at the same time."""
        ...

    def refusal(self, needed: Requirements) -> exceptions.NotEnoughResources:
        """Return the refusal of requirements, with the reasons."""
        ...


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Site:
    """The values that the conditions compare, of the resources that were chosen.

    :ivar values: by resource id and property
    """

    names: frozenset[str]
    values: Mapping[int, Mapping[str, str]]

    def holds(self, tx: Transaction, needed: Requirements, ids: Collection[int]) -> bool:
        """Whether resources still have these values."""
        now = tx.search.labels(None, _visible(tx, needed, self.names), ids=ids)
        return all(
            now.values.get(name, {}).get(key) == self.values.get(key, {}).get(name)
            for name in self.names
            for key in ids
        )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Placing:
    """What was placed for one reservation."""

    shares: tuple[Share, ...]
    site: Site


def _alike(needed: Sequence[Requirements], read: Callable[[Requirements], T]) -> list[T]:
    """Return what is read for each, once for all that differ in their placements only."""
    known: list[tuple[Requirements, T]] = []
    found = []
    for one in needed:
        plain = dataclasses.replace(one, placement=None)
        same = next((answer for asked, answer in known if asked == plain), None)
        if same is None:
            same = read(one)
            known.append((plain, same))
        found.append(same)
    return found


def place(stock: Stock, needed: Sequence[Requirements]) -> list[Placing] | int:
    """Choose resources for reservations at the same time.

    :returns: the choice for each, or the place of one that could not be placed
    """
    board = _Board(stock, needed)
    found = placement.place(board.problem(), budget=stock.tx.budget)
    if isinstance(found, placement.Unplaced):
        return min(found.place, len(needed) - 1)
    return [board.placing(number, found.members[number]) for number in range(len(needed))]


class _Board:
    """The resources and reservations of one choice, as a problem."""

    def __init__(self, stock: Stock, needed: Sequence[Requirements]) -> None:
        self._stock = stock
        self._needed = needed
        self._pools = _alike(needed, stock.every)
        self._placements = [one.placement or _ANYWHERE for one in needed]
        self._places = {one.reservation_id: place for place, one in enumerate(needed)}
        self._held = [self._holding(one) for one in needed]
        # Reservations that are not chosen for now: only where they are matters.
        mine = {name for one in self._placements for name in one.others} - self._places.keys()
        self._others = {name: held for name in sorted(mine) if (held := stock.held(name))}
        self._places |= {name: len(needed) + place for place, name in enumerate(self._others)}
        self._rows = self._numbered()
        self._names = frozenset(name for one in self._placements for name in one.properties)
        self._traits = {
            one.name for each in self._placements for one in each.prefer if one.value is None
        }
        self._values = self._names | {
            one.name for each in self._placements for one in each.prefer if one.value is not None
        }
        self._labels = _alike(needed, self._read)

    def _holding(self, needed: Requirements) -> dict[int, int]:
        held = [
            item
            for item in self._stock.held(needed.reservation_id)
            if item.resource_id not in needed.leaving
        ]
        return slots.slots(held, needed.search.demand)

    def _numbered(self) -> dict[int, int]:
        ids = [item.resource_id for pool, _ in self._pools for item in pool]
        ids += [key for held in self._held for key in held]
        ids += [item.resource_id for held in self._others.values() for item in held]
        return {key: row for row, key in enumerate(dict.fromkeys(ids))}

    def _read(self, needed: Requirements) -> Labels:
        """Return the labels of all resources that a reservation could use, free or not."""
        tx = self._stock.tx
        tx.budget.check()
        ids = {key for held in self._held for key in held}
        ids |= {item.resource_id for held in self._others.values() for item in held}
        return tx.search.labels(needed.match, _visible(tx, needed, self._values), self._traits, ids)

    def problem(self) -> Problem:
        """Return the problem to solve."""
        codes = {name: self._codes(name) for name in sorted(self._names)}
        groups = [self._group(place, codes) for place in range(len(self._needed))]
        nowhere = np.zeros(len(self._rows), dtype=np.int64)
        groups += [
            Group(
                minimum=0,
                maximum=0,
                slots=nowhere,
                rank=nowhere,
                has={self._rows[item.resource_id]: 1 for item in held},
            )
            for held in self._others.values()
        ]
        return Problem(
            groups=groups,
            free=self._free(),
            labels={name: self._column(name, codes[name]) for name in codes},
            sames=list(dict.fromkeys(self._sames())),
        )

    def _codes(self, name: str) -> dict[str, int]:
        self._stock.tx.budget.check()
        values = {value for one in self._labels for value in one.values.get(name, {}).values()}
        return {value: code for code, value in enumerate(sorted(values))}

    def _column(self, name: str, codes: Mapping[str, int]) -> Ints:
        found = np.full(len(self._rows), UNLABELED, dtype=np.int64)
        for one in self._labels:
            for key, value in one.values.get(name, {}).items():
                if key in self._rows:
                    found[self._rows[key]] = codes[value]
        return found

    def _free(self) -> dict[str, Ints]:
        found: dict[str, Ints] = {}
        for _, free in self._pools:
            for key, units in free.items():
                for name, amount in units.items():
                    if name not in found:
                        found[name] = np.zeros(len(self._rows), dtype=np.int64)
                    found[name][self._rows[key]] = amount
        return found

    def _group(self, place: int, codes: Mapping[str, Mapping[str, int]]) -> Group:
        self._stock.tx.budget.check()
        needed, wanted = self._needed[place], self._placements[place]
        search, count = needed.search, len(self._rows)
        fits, rank = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        for number, item in enumerate(self._pools[place][0]):
            row = self._rows[item.resource_id]
            fits[row], rank[row] = item.slots, number
        values = self._labels[place].values
        return Group(
            minimum=needed.minimum,
            maximum=needed.maximum,
            slots=fits,
            rank=rank,
            demand={name: units for name, units in search.demand.items() if units > 0},
            weights=self._weights(place, wanted.prefer),
            apart=search.spread is Spread.APART,
            together=search.spread is Spread.TOGETHER,
            spreads=tuple(
                EvenSpread(
                    property=one.property,
                    max_skew=one.max_skew,
                    values=frozenset(
                        codes[one.property][value]
                        for value in values.get(one.property, {}).values()
                    ),
                )
                for one in wanted.spread
            ),
            apart_from=frozenset(
                self._places[name] for name in wanted.apart_from if name in self._places
            ),
            has={self._rows[key]: count for key, count in self._held[place].items()},
        )

    def _weights(self, place: int, prefer: Sequence[Preference]) -> Ints | None:
        if not prefer:
            return None
        found = np.zeros(len(self._rows), dtype=np.int64)
        labels = self._labels[place]
        for one in prefer:
            if one.value is None:
                ids: Collection[int] = labels.traits.get(one.name, ())
            else:
                values = labels.values.get(one.name, {})
                ids = [key for key, value in values.items() if value == one.value]
            found[[self._rows[key] for key in ids if key in self._rows]] += one.weight
        return found

    def _sames(self) -> Iterator[Same]:
        for place, wanted in enumerate(self._placements):
            for name in wanted.same:
                yield Same(property=name, groups=frozenset({place}))
            for one in wanted.same_as:
                # The other one has no members if it is not among these.
                other = self._places.get(one.reservation, place)
                yield Same(property=one.property, groups=frozenset({place, other}))

    def placing(self, place: int, members: Mapping[int, int]) -> Placing:
        """Return the shares of one reservation, in the order of its candidates."""
        pool = self._pools[place][0]
        chosen = tuple(
            Share(candidate=item, slots=members[row])
            for item in pool
            if (row := self._rows[item.resource_id]) in members
        )
        names = self._placements[place].properties
        values = self._labels[place].values
        return Placing(
            shares=chosen,
            site=Site(
                names=names,
                values={
                    key: {name: values[name][key] for name in names if key in values.get(name, {})}
                    for key in (share.candidate.resource_id for share in chosen)
                },
            ),
        )


def together(supplier: Supplier, needed: Sequence[Requirements]) -> tuple[Allocation, ...]:
    """Choose for all reservations of a new lease, of which some have a placement.

    :raises climate.exceptions.NotEnoughResources: with the reasons
    :raises climate.exceptions.InvalidInput: naming a property that no resource has
    """
    named = [place for place, one in enumerate(needed) if one.search.names]
    others = [place for place, one in enumerate(needed) if one.maximum and not one.search.names]
    first = supplier.each(named, needed)
    if isinstance(first, int):
        failed = first
    else:
        rest = supplier.placed([needed[place] for place in others]) if others else []
        if not isinstance(rest, int):
            found = {**first, **dict(zip(others, rest, strict=True))}
            return tuple(item for key in sorted(found) for item in found[key])
        failed = others[rest]
    check_properties(supplier.tx, needed)
    with refusals.naming([one.plugin.resource_type for one in needed], failed):
        raise supplier.refusal(needed[failed])


def check_properties(tx: Transaction, needed: Sequence[Requirements]) -> None:
    """Check that the caller can see each property that the conditions of placements name.

    No resource meets a condition on another one, so only searches that find nothing need
    this check. A private property is as unknown as one that no resource has.

    :raises climate.exceptions.InvalidInput: naming one
    """
    for one in needed:
        names = one.placement.properties if one.placement is not None else frozenset()
        if not names:
            continue
        resource_type = one.search.resource_type
        unknown = names - tx.properties.existing(resource_type, names)
        if not one.private:
            unknown |= names & tx.properties.private_names(resource_type)
        if unknown:
            raise exceptions.MalformedParameter(
                f'Malformed parameter placement: no resource of {resource_type} has the property '
                f"'{min(unknown)}'"
            )


def is_kept(stock: Stock, needed: Requirements, has: Sequence[Allocation]) -> bool:
    """Whether allocations meet the conditions of a placement.

    :param has: all allocations that the reservation is to have
    """
    board = _Board(_Fixed(stock, needed.reservation_id, has), [needed])
    problem = board.problem()
    return problem.is_even(0, {}) and not Usage(problem).contradictory


class _Fixed:
    """A stock of nothing new, for a reservation that has some allocations."""

    def __init__(self, stock: Stock, mine: str, has: Sequence[Allocation]) -> None:
        self.tx = stock.tx
        self._stock = stock
        self._mine = mine
        self._has = has

    def every(self, needed: Requirements) -> tuple[list[Candidate], dict[int, Mapping[str, int]]]:
        """Return nothing."""
        return [], {}

    def held(self, reservation_id: str) -> Sequence[Allocation]:
        """Return the given allocations of one reservation, and those that others have."""
        return self._has if reservation_id == self._mine else self._stock.held(reservation_id)


def _visible(tx: Transaction, needed: Requirements, names: Collection[str]) -> set[str]:
    """Return the names of properties that the caller may compare."""
    if needed.private or not names:
        return set(names)
    return set(names) - tx.properties.private_names(needed.search.resource_type)


def shown(tx: Transaction, lease: Lease, allocations: Sequence[Allocation]) -> Lease:
    """Return a lease with where its members are.

    :param allocations: all that it has or gets
    """
    if all(item.placement is None for item in lease.reservations):
        return lease
    found = tx.reservations.with_members(lease.reservations, allocations)
    return dataclasses.replace(lease, reservations=found)
