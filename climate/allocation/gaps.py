# SPDX-License-Identifier: Apache-2.0

"""Intervals in which resources have room for a number of slots, as arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from climate.allocation.steps import Bools
from climate.allocation.steps import Ints


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Gaps:
    """Intervals of resources; arrays of one length.

    :ivar places: of the resource of each, in some list of resources
    :ivar levels: so many slots are free in each, at least 1
    :ivar starts: in microseconds since 1970
    :ivar ends: likewise
    """

    places: Ints
    levels: Ints
    starts: Ints
    ends: Ints

    @classmethod
    def none(cls) -> Gaps:
        """Return no intervals."""
        nothing = np.zeros(0, dtype=np.int64)
        return cls(places=nothing, levels=nothing, starts=nothing, ends=nothing)

    @classmethod
    def joined(cls, found: Sequence[Gaps]) -> Gaps:
        """Return all intervals of some; there is at least one."""
        return cls(
            places=np.concatenate([one.places for one in found]),
            levels=np.concatenate([one.levels for one in found]),
            starts=np.concatenate([one.starts for one in found]),
            ends=np.concatenate([one.ends for one in found]),
        )

    def __len__(self) -> int:
        return len(self.places)

    @property
    def lengths(self) -> Ints:
        """The length of each, in microseconds."""
        return self.ends - self.starts

    def where(self, which: Bools) -> Gaps:
        """Return those for which *which* is true."""
        return self.picked(np.flatnonzero(which))

    def picked(self, places: Ints) -> Gaps:
        """Return those at some places in the arrays."""
        return Gaps(
            places=self.places[places],
            levels=self.levels[places],
            starts=self.starts[places],
            ends=self.ends[places],
        )

    def since(self, place: int) -> Gaps:
        """Return those from a place in the arrays on."""
        return Gaps(
            places=self.places[place:],
            levels=self.levels[place:],
            starts=self.starts[place:],
            ends=self.ends[place:],
        )

    def after(self, time: int) -> Ints:
        """Return the starts after a time."""
        return self.starts[self.starts > time]

    def by_length(self) -> Gaps:
        """Return them, the shortest first."""
        return self.picked(np.argsort(self.lengths, kind='stable'))

    def with_more(self, more: Gaps) -> Gaps:
        """Return some that are ordered by length with others, which need not be."""
        more = more.by_length()
        at = np.searchsorted(self.lengths, more.lengths)
        return Gaps(
            places=np.insert(self.places, at, more.places),
            levels=np.insert(self.levels, at, more.levels),
            starts=np.insert(self.starts, at, more.starts),
            ends=np.insert(self.ends, at, more.ends),
        )


def not_within(new: Gaps, old: Gaps) -> Bools:
    """Return which of some gaps were not part of a gap of the same resource and level before."""
    if not len(old):
        return np.ones(len(new), dtype=np.bool_)
    levels = int(max(new.levels.max(initial=0), old.levels.max())) + 1
    # One number for the resource, the level and the rank of the start.
    ranks = np.unique(np.concatenate((old.starts, new.starts)), return_inverse=True)[1]
    owners = np.concatenate((old.places * levels + old.levels, new.places * levels + new.levels))
    keys = owners * len(ranks) + ranks
    order = np.argsort(keys[: len(old)])
    before = np.searchsorted(keys[: len(old)][order], keys[len(old) :], 'right') - 1
    known = order[np.maximum(before, 0)]
    within = (before >= 0) & (owners[known] == owners[len(old) :]) & (old.ends[known] >= new.ends)
    found: Bools = ~within
    return found
