# SPDX-License-Identifier: Apache-2.0

"""The facts that Climate records for a reservation of a network."""

from __future__ import annotations

import dataclasses

from climate.domain.facts import fact
from climate.domain.facts import Facts


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class NetworkFacts(Facts):
    """The facts of a reservation of a network.

    :ivar network_id: its id in Neutron; None if there is none
    :ivar described: the name and the description that Climate has set; empty if
        it has set none
    """

    network_id: str | None = None
    described: tuple[str, ...] = fact((), key='network_described', read=tuple)
