# SPDX-License-Identifier: Apache-2.0

"""How long leases take to yield, learnt from those that have."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Final

LEAST: Final = 5
"""How many leases must have yielded before something is learnt from them."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class YieldTime:
    """How long one lease took to give up what it had of one resource type.

    :ivar units: how much that was, see :meth:`climate.plugins.contract.Plugin.yield_units`
    """

    units: int
    seconds: int


def learnt(known: Sequence[YieldTime], units: int, quantile: float) -> int | None:
    """Return how many seconds a lease takes to yield; None if too few have yielded.

    Those that had about as much count. One that had less is taken to need as long for each
    unit, and one that had more to need as long for less.

    :param known: the last that have yielded
    :param units: how much the lease has
    :param quantile: the part of them that is not to take longer, above 0, at most 1
    """
    if len(known) < LEAST:
        return None
    alike = sorted(known, key=lambda one: abs(math.log(one.units / units)))
    alike = alike[: max(LEAST, len(known) // 2)]
    takes = sorted(one.seconds * max(1.0, units / one.units) for one in alike)
    return math.ceil(takes[math.ceil(quantile * len(takes)) - 1])
