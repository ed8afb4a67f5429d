# SPDX-License-Identifier: Apache-2.0

"""The health of hosts."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from typing import Final

ASLEEP: Final = 'climate-power: asleep'
"""The reason for disabling the nova-compute of a host that sleeps to save power.

Such a host has not failed: it can be booked like any other, and is switched on
before a lease needs it.
"""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class HostReport:
    """A report on a nova-compute.

    :ivar service_host: the name of its machine, as aggregates know it
    :ivar fault: why the host must not be used; '' if there is no fault
    """

    service_host: str
    fault: str = ''


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class MonitoredResource:
    """A resource that may fail.

    :ivar service_host: the name under which Nova's services know it
    :ivar failed: whether it is known to have failed; one that is merely short of capacity
        has not
    :ivar unusable: whether it counts as failed whatever its nova-compute does
    """

    resource_id: int
    name: str
    service_host: str
    failed: bool = False
    unusable: bool = False


class HealActive(enum.StrEnum):
    """Which active reservations move off a resource that is out of service.

    ``never``: none; ``empty``: those without running servers there; ``always``:
    all, and whatever runs there is lost.
    """

    NEVER = 'never'
    EMPTY = 'empty'
    ALWAYS = 'always'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Outage:
    """A resource that is unavailable for part of the time for which it is booked.

    :ivar name: of the resource
    :ivar begins: when the outage began, or will begin (aware UTC)
    :ivar reason: for people, such as ``compute-1 has failed``
    :ivar crowded: whether the resource works, but has less room than is booked
    :ivar closed: whether it is a maintenance, which ends
    """

    reservation_id: str
    resource_id: int
    name: str
    begins: datetime.datetime
    reason: str
    crowded: bool = False
    closed: bool = False
