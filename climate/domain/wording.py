# SPDX-License-Identifier: Apache-2.0

"""What a reservation holds, in words: ``2 hosts: compute-3, compute-4``."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

MOST_NAMED: Final = 20
"""The most resources that a text names."""

_AMOUNT: Final = 'amount'
_AT_MOST: Final = 'max'


def phrase(
    request: Mapping[str, Any], one: str, many: str, names: Sequence[str], count: int
) -> str:
    """Return what a reservation holds, or what it asks for if it holds nothing.

    :param request: its fields, as its resource type describes them
    :param one: the noun for one of what it leases, such as ``host``
    :param many: the noun for several of them
    :param names: of the first resources that it holds
    :param count: the number of resources that it holds
    """
    amount = request.get(_AMOUNT)
    if not isinstance(amount, int) or not amount:
        asked = request.get(_AT_MOST)
        amount = count or (asked if isinstance(asked, int) and asked else 1)
    text = f'{amount} {one if amount == 1 else many}'
    if not names:
        return text
    # Ten servers are on three hosts, but two hosts are themselves what is leased.
    return f'{text}{":" if amount == count else " on"} {listed(names, count)}'


def listed(names: Sequence[str], count: int) -> str:
    """Return names with commas, and how many more there are."""
    shown = names[:MOST_NAMED]
    more = count - len(shown)
    return ', '.join(shown) + (f' and {more} more' if more > 0 else '')
