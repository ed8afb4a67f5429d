# SPDX-License-Identifier: Apache-2.0

"""The largest amounts for several needs that compete for the same resources.

Only a choice of resources shows whether some amounts are possible together. It is
assumed that what is possible stays possible with less.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar('T')


def most(
    least: Sequence[int], limits: Sequence[int], attempt: Callable[[tuple[int, ...]], T | None]
) -> T | None:
    """Return the result for amounts of which none can be larger without another being smaller.

    All amounts grow in proportion first, so that no need gets everything; then each of
    them as far as it can.

    :param least: the smallest amounts
    :param limits: the largest amounts
    :param attempt: returns the result for some amounts; None if they are not possible
    :returns: None if not even the smallest amounts are possible
    """
    found = attempt(tuple(limits))
    if found is not None:
        return found
    widest = max((high - low for low, high in zip(least, limits, strict=True)), default=0)

    def scaled(step: int) -> tuple[int, ...]:
        return tuple(
            low + (high - low) * step // max(widest, 1)
            for low, high in zip(least, limits, strict=True)
        )

    step, best = _last(-1, widest, lambda number: attempt(scaled(number)))
    if best is None:
        return None
    amounts = list(scaled(step))
    for place, limit in enumerate(limits):

        def grown(number: int, place: int = place) -> T | None:
            return attempt((*amounts[:place], number, *amounts[place + 1 :]))

        amounts[place], better = _last(amounts[place], limit + 1, grown)
        best = best if better is None else better
    return best


def _last(low: int, high: int, works: Callable[[int], T | None]) -> tuple[int, T | None]:
    """Return the last number between two that works, with its result.

    :param low: known to work
    :param high: known not to work
    :returns: *low* and None if none in between works
    """
    found: T | None = None
    while high - low > 1:
        middle = (low + high) // 2
        one = works(middle)
        if one is None:
            high = middle
        else:
            low, found = middle, one
    return low, found
