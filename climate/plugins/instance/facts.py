# SPDX-License-Identifier: Apache-2.0

"""The facts that Climate records for a reservation of instances."""

from __future__ import annotations

import dataclasses

from climate.domain.facts import AggregateFacts
from climate.domain.facts import fact


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class InstanceFacts(AggregateFacts):
    """The facts of a reservation of instances.

    :ivar server_group_id: id of its server group in Nova; None if it has none
    :ivar other_server_groups: whether there may be others of its name, with
        another policy
    :ivar shrinking: the slots to remove, by resource id, of a change that has
        begun to keep other slots than suggested; empty if there is none
    """

    server_group_id: str | None = None
    other_server_groups: bool = False
    shrinking: tuple[tuple[int, int], ...] = fact(
        (), read=lambda stored: tuple((number, count) for number, count in stored)
    )
