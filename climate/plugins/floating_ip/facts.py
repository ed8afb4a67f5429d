# SPDX-License-Identifier: Apache-2.0

"""The facts that Climate records for a reservation of floating IPs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from climate.domain.facts import fact
from climate.domain.facts import Facts


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class FloatingIPFacts(Facts):
    """The facts of a reservation of floating IPs.

    :ivar floating_ips: their ids in Neutron, by address
    """

    floating_ips: Mapping[str, str] = fact(factory=dict)
