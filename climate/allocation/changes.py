# SPDX-License-Identifier: Apache-2.0

"""Decides which of its allocations a changed reservation keeps."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from collections.abc import Sequence

from climate.domain.leases import Allocation


class WouldTakeRunning(ValueError):
    """The change would take resources away from a lease that is running.

    :ivar names: the names of those resources
    """

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(f'in use by the running lease: {", ".join(names)}')
        self.names = tuple(names)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """The allocations that stay and go, and how many are still to be found.

    :ivar kept: the allocations that stay
    :ivar dropped: the allocations that are given up
    :ivar missing_minimum: how many more are needed to reach the minimum
    :ivar missing_maximum: how many more are allowed by the maximum
    """

    kept: tuple[Allocation, ...]
    dropped: tuple[Allocation, ...]
    missing_minimum: int
    missing_maximum: int


def keep(
    current: Sequence[Allocation],
    still_good: Collection[int],
    minimum: int,
    maximum: int,
    running: bool,
) -> Kept:
    """Keep every allocation that can be kept, up to *maximum*.

    If there are more than that, the first in the order of *current* stay.

    :param current: the allocations not yet released
    :param still_good: ids of the resources that fulfil the new request and are
        free in the new period, except for this reservation
    :param minimum: the fewest resources that the new request accepts
    :param maximum: the most resources that it may have
    :param running: whether the lease has started: then nothing may be taken away
    :raises WouldTakeRunning: if *running* and an allocation would be dropped
    :raises ValueError: if not ``0 <= minimum <= maximum``
    """
    if not 0 <= minimum <= maximum:
        raise ValueError('a change needs 0 <= minimum <= maximum')
    good_ids = frozenset(still_good)
    kept: list[Allocation] = []
    dropped: list[Allocation] = []
    for allocation in current:
        stays = allocation.resource_id in good_ids and len(kept) < maximum
        (kept if stays else dropped).append(allocation)
    if running and dropped:
        raise WouldTakeRunning([_name(allocation) for allocation in dropped])
    return Kept(
        kept=tuple(kept),
        dropped=tuple(dropped),
        missing_minimum=max(0, minimum - len(kept)),
        missing_maximum=maximum - len(kept),
    )


def _name(allocation: Allocation) -> str:
    return allocation.resource_name or str(allocation.resource_id)
