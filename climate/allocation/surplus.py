# SPDX-License-Identifier: Apache-2.0

"""Which bookings a resource no longer has room for, after it has lost capacity."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Mapping

from climate.allocation import timeline
from climate.domain.periods import Period


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """What a reservation has on a resource.

    :ivar active: whether its lease has started
    :ivar amounts: units by resource class
    """

    reservation_id: str
    active: bool
    period: Period
    amounts: Mapping[str, int]


def surplus(claims: Iterable[Claim], room: Mapping[str, float]) -> list[Claim]:
    """Return the claims that have to leave, so that the others fit.

    Active claims stay before others, and of those the ones that start first. A claim
    leaves only if it does not fit next to those that stay.

    :param room: the capacity that is left, in units; other classes have room for all
    """
    kept: dict[str, list[tuple[Period, int]]] = defaultdict(list)
    leaving = []
    for claim in sorted(claims, key=_precedence):
        amounts = {name: units for name, units in claim.amounts.items() if name in room}
        if all(
            timeline.peak(kept[name], claim.period) + units <= room[name]
            for name, units in amounts.items()
        ):
            for name, units in amounts.items():
                kept[name].append((claim.period, units))
        else:
            leaving.append(claim)
    return leaving


def _precedence(claim: Claim) -> tuple[bool, Period, str]:
    return not claim.active, claim.period, claim.reservation_id
