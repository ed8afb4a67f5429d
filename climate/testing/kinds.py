# SPDX-License-Identifier: Apache-2.0

"""The declaration of a resource type, from which its tests are made."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

from climate.db.transactions.store import Store
from climate.domain.leases import Lease
from climate.domain.resources import ResourceDraft
from climate.plugins.contract import Plugin
from climate.resources.registrar import Registrar
from climate.simulator import SimulatedCloud
from climate.testing.restorable import RestorableDeployment

Change = Mapping[str, Any]
Contents = Mapping[str, Any]


class TypeRegistrar:
    """Registers the resources of a type in a store and a cloud.

    :ivar cloud: the simulated cloud
    """

    def __init__(
        self, store: Store, plugins: Mapping[str, Plugin[Any]], cloud: SimulatedCloud
    ) -> None:
        self.cloud = cloud
        self._registrar = Registrar(store, plugins, cloud)

    def register(self, resource_type: str, name: str = '', **attributes: str | int) -> None:
        """Register a resource."""
        self._registrar.register_resource(
            ResourceDraft(resource_type=resource_type, name=name, attributes=attributes)
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class LeasedType:
    """Describes leases of one resource type.

    :ivar furnish: creates the resources, in addition to the four existing hosts, and the
        objects of the users; returns the reservations of a lease
    :ivar plugin: creates the plugin, for :mod:`climate.testing.cases`; takes each of
        ``services`` by its name
    :ivar services: creates the fakes of services that only this plugin calls, by name; see
        :class:`climate.testing.own_services.OwnService`
    :ivar has_effects: whether its start and end call services; False for a type whose leases
        change nothing outside of Climate
    :ivar changes: changes of an active lease, by name: for each of the reservations a
        change, or None
    :ivar use: acts as the users of an active lease
    :ivar only: names of the scenarios to walk through; empty for all
    :ivar without: names of scenarios to leave out, because they do not apply
    :ivar same: returns the part of the contents of the cloud that has to be the same
        after a lease as before
    :ivar wrong: checks the objects that an ended lease leaves on purpose; returns a
        complaint, or ''
    :ivar put_away: removes these objects
    """

    furnish: Callable[[TypeRegistrar], tuple[Mapping[str, Any], ...]]
    plugin: Callable[..., Plugin[Any]] | None = None
    services: Mapping[str, Callable[[], object]] = dataclasses.field(default_factory=dict)
    has_effects: bool = True
    changes: Mapping[str, tuple[Change | None, ...]] = dataclasses.field(default_factory=dict)
    use: Callable[[RestorableDeployment, Lease], None] = lambda _site, _lease: None
    only: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    same: Callable[[Contents], Contents] = lambda contents: contents
    wrong: Callable[[SimulatedCloud], str] = lambda _cloud: ''
    put_away: Callable[[SimulatedCloud], None] = lambda _cloud: None
