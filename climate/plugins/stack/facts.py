# SPDX-License-Identifier: Apache-2.0

"""The facts that Climate records for a reservation of a stack."""

from __future__ import annotations

import dataclasses

from climate.domain.facts import Facts


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StackFacts(Facts):
    """The facts of a reservation of a stack.

    :ivar stack_id: the id in Heat of a stack that the lease created
    :ivar before: the state of an existing stack before its lease, ``running`` or
        ``suspended``
    :ivar started: whether its start is complete
    :ivar kept: whether a stack that the lease created was suspended, and is kept
    :ivar over: whether all actions of its end are complete
    :ivar snapshot_id: the id in Heat of the latest snapshot
    """

    stack_id: str | None = None
    before: str | None = None
    started: bool = False
    kept: bool = False
    over: bool = False
    snapshot_id: str | None = None
