# SPDX-License-Identifier: Apache-2.0

"""The facts of host reservations, and of hosts of the pool."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from climate.domain.facts import AggregateFacts
from climate.domain.facts import fact
from climate.domain.facts import Facts


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class HostFacts(AggregateFacts):
    """The facts of a reservation of hosts.

    :ivar images: ids of the images that Climate made, by server id
    :ivar images_before: ids of the images that existed before, by server id
    """

    images: Mapping[str, str] = fact(factory=dict)
    images_before: Mapping[str, tuple[str, ...]] = fact(
        factory=dict,
        key='imaging',
        read=lambda stored: {server_id: tuple(ids) for server_id, ids in stored.items()},
    )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ReleaseFacts(Facts):
    """The facts of a reservation that takes a host out of the pool for a while.

    :ivar released_host: the service host that is out of the pool; None if none is
    """

    released_host: str | None = fact(None, key='door')
