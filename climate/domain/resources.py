# SPDX-License-Identifier: Apache-2.0

"""Reservable resources, with inventories and properties."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from collections.abc import Mapping


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Inventory:
    """How much of a resource class a resource has, in Placement's terms."""

    resource_class: str
    total: int
    reserved: int = 0
    allocation_ratio: float = 1.0
    min_unit: int = 1
    max_unit: int = 2147483647
    step_size: int = 1

    @property
    def capacity(self) -> int:
        """Units that can be allocated: ``(total - reserved) * ratio``."""
        return int((self.total - self.reserved) * self.allocation_ratio)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """One thing that can be reserved, such as a host.

    :ivar project_id: the project that owns it, for a server, volume or stack; None
        for a resource of the cloud
    :ivar attributes: properties that the cloud reports (``vcpus``, ``cpu_info``, …)
    :ivar capabilities: properties that operators set; always text
    :ivar generation: increases by one with every booking that affects it
    :ivar failed_at: when it failed; None if it works
    :ivar degraded: how the cloud has changed it since it was registered; '' if it has not
    :ivar unusable: whether leases cannot use it for that reason; it then counts as failed
    """

    resource_type: str
    name: str
    id: int | None = None
    parent_id: int | None = None
    project_id: str | None = None
    reservable: bool = True
    disabled: bool = False
    generation: int = 0
    failed_at: datetime.datetime | None = None
    degraded: str = ''
    unusable: bool = False
    attributes: Mapping[str, str | int | None] = dataclasses.field(default_factory=dict)
    capabilities: Mapping[str, str] = dataclasses.field(default_factory=dict)
    inventories: tuple[Inventory, ...] = ()
    traits: frozenset[str] = frozenset()
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PropertyKey:
    """The name of a property that resources of a type have."""

    id: str
    resource_type: str
    name: str
    private: bool = False
    values: tuple[str, ...] = ()
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None


class Spread(enum.StrEnum):
    """The distribution of the slots of one request over resources.

    ``any``: slots may share a resource; ``together``: all on one resource;
    ``apart``: each on a separate resource.
    """

    ANY = 'any'
    TOGETHER = 'together'
    APART = 'apart'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A resource that is available for the whole of a requested period.

    A *slot* is one unit of a request: the whole resource, or the amounts of a
    demand.

    :ivar busy_until: end of the last allocation before the period; None if
        there is none
    :ivar busy_from: start of the first allocation after it; None if none
    :ivar slots: how many slots fit, in addition to existing allocations
    :ivar load: the share (0 to 1) of the requested classes that existing
        allocations use at the busiest instant of the period
    :ivar own: how many of *slots* the reservation that is being changed already
        has there
    """

    resource_id: int
    name: str
    generation: int
    busy_until: datetime.datetime | None = None
    busy_from: datetime.datetime | None = None
    slots: int = 1
    load: float = 0.0
    own: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Room:
    """The free capacity of a resource throughout a period.

    :ivar capacity: units by resource class, for the requested classes
    :ivar left: units that are free at every instant of the period; negative if the
        resource is overbooked
    """

    resource_id: int
    name: str
    generation: int
    capacity: Mapping[str, int]
    left: Mapping[str, int]


def used_classes(demand: Mapping[str, int]) -> dict[str, int]:
    """Return the classes of *demand* with more than 0 units, sorted by name."""
    return {name: demand[name] for name in sorted(demand) if demand[name] > 0}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """Some slots of one candidate."""

    candidate: Candidate
    slots: int = 1


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ResourceDraft:
    """A resource that an operator registers.

    :ivar attributes: the properties that the type requires, such as
        ``floating_ip_address``; already validated against the type's schema
    :ivar capabilities: further properties that the operator sets; always text
    :ivar inventories: its inventories, if operators declare them for this type
        rather than the cloud
    """

    resource_type: str
    name: str = ''
    attributes: Mapping[str, str | int | None] = dataclasses.field(default_factory=dict)
    capabilities: Mapping[str, str] = dataclasses.field(default_factory=dict)
    inventories: tuple[Inventory, ...] = ()
