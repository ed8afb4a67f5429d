# SPDX-License-Identifier: Apache-2.0

"""The choice of the slots that a shrinking reservation keeps.

Nothing here calls the cloud.
"""

from __future__ import annotations

from collections.abc import Mapping


def keep(
    suggested: Mapping[int, int], most: Mapping[int, int], used: Mapping[int, int]
) -> dict[int, int] | None:
    """Return the slots to keep so that no server loses its slot.

    Their total is that of *suggested*; where servers leave a choice, the suggestion
    is followed.

    :param most: the largest number that can be kept, by resource id
    :param used: the number in use, by resource id
    :returns: slots by resource id; None if more are in use than can be kept
    """
    busy = {number: used.get(number, 0) for number in most}
    if any(busy[number] > most[number] for number in most):
        return None
    kept = {number: max(suggested.get(number, 0), busy[number]) for number in most}
    surplus = sum(kept.values()) - sum(suggested.values())
    for number in sorted(kept, key=lambda number: (busy[number], -number)):
        spare = min(surplus, kept[number] - busy[number])
        kept[number] -= spare
        surplus -= spare
    return None if surplus else {number: count for number, count in kept.items() if count}
