# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""What can be reserved: resources with inventories and properties."""

from __future__ import annotations

import dataclasses
import datetime
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
        """Units that can be given away: ``(total - reserved) * ratio``."""
        return int((self.total - self.reserved) * self.allocation_ratio)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """One thing that can be reserved, such as a host.

    :ivar attributes: what the cloud says of it (``vcpus``, ``cpu_info``, …)
    :ivar capabilities: what operators say of it; always text
    :ivar generation: goes up by one with every booking that touches it
    """

    resource_type: str
    name: str
    id: int | None = None
    parent_id: int | None = None
    reservable: bool = True
    disabled: bool = False
    generation: int = 0
    attributes: Mapping[str, str | int | None] = dataclasses.field(default_factory=dict)
    capabilities: Mapping[str, str] = dataclasses.field(default_factory=dict)
    inventories: tuple[Inventory, ...] = ()
    traits: frozenset[str] = frozenset()
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PropertyKey:
    """A name under which resources of a type have values."""

    id: str
    resource_type: str
    name: str
    private: bool = False
    values: tuple[str, ...] = ()
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A resource that is free for the whole of a wanted period.

    :ivar busy_until: end of the last allocation before the period; None if
        there is none
    :ivar busy_from: start of the first allocation after it; None if none
    """

    resource_id: int
    name: str
    generation: int
    busy_until: datetime.datetime | None = None
    busy_from: datetime.datetime | None = None
