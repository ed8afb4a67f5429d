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

"""What the tests of a resource type have to know of it: one declaration."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

from climate.db.store import Store
from climate.domain.leases import Lease
from climate.domain.resources import ResourceDraft
from climate.plugins.contract import Plugin
from climate.resources.registrar import Registrar
from climate.simulator import SimulatedCloud
from climate.testing.world import World

Change = Mapping[str, Any]
Contents = Mapping[str, Any]


class TypeRegistrar:
    """Where the resources of a type are registered: a store and a cloud.

    :ivar cloud: the simulated cloud
    """

    def __init__(
        self, store: Store, plugins: Mapping[str, Plugin[Any]], cloud: SimulatedCloud
    ) -> None:
        self.cloud = cloud
        self._registrar = Registrar(store, plugins, cloud)

    def register(self, resource_type: str, name: str = '', **attributes: str | int) -> None:
        """Take a resource in."""
        self._registrar.register_resource(
            ResourceDraft(resource_type=resource_type, name=name, attributes=attributes)
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class LeasedType:
    """How one resource type is leased.

    :ivar furnish: makes the resources, in addition to the four existing hosts,
        and the users' own objects; returns the reservations of a lease
    :ivar plugin: makes the plugin, for :mod:`climate.testing.cases`
    :ivar changes: what becomes of an active lease, by name: a change for each
        of the reservations, or None
    :ivar use: what its users do with an active lease
    :ivar only: names of the scenarios to walk through; empty for all
    :ivar without: names of the scenarios that make no sense
    :ivar same: returns what of the contents of the cloud has to be afterwards
        as it was before
    :ivar wrong: says what is wrong with what a lease that is over left on purpose
    :ivar put_away: takes that away
    """

    furnish: Callable[[TypeRegistrar], tuple[Mapping[str, Any], ...]]
    plugin: Callable[[], Plugin[Any]] | None = None
    changes: Mapping[str, tuple[Change | None, ...]] = dataclasses.field(default_factory=dict)
    use: Callable[[World, Lease], None] = lambda _world, _lease: None
    only: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    same: Callable[[Contents], Contents] = lambda contents: contents
    wrong: Callable[[SimulatedCloud], str] = lambda _cloud: ''
    put_away: Callable[[SimulatedCloud], None] = lambda _cloud: None
