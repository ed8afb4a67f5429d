# SPDX-License-Identifier: Apache-2.0

"""What a reservation holds: the resources that are allocated to it."""

from __future__ import annotations

from typing import Final
from typing import NamedTuple

MOST_SHOWN: Final = 1000
"""The most resources of a reservation that are named."""


class HeldResource(NamedTuple):
    """A resource of which a reservation holds all or a part."""

    id: int
    name: str


class Holding(NamedTuple):
    """The resources that a reservation holds now.

    :ivar resources: the first :data:`MOST_SHOWN` of them, in natural order of their names
    :ivar number: how many there are
    """

    resources: tuple[HeldResource, ...] = ()
    number: int = 0
