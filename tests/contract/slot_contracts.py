# SPDX-License-Identifier: Apache-2.0

"""What a flavor gets of a provider that is nested in a host's: a slot."""

from __future__ import annotations

from climate.cloud import base
from climate.domain.resources import Inventory
from tests.contract import backends
from tests.contract import contracts
from tests.narrowing import present
from tests.waiting import until

SMALL = {'vcpus': 1, 'memory_mb': 64, 'disk_gb': 0, 'public': False}


class SlotContract(contracts.Contract):
    """A host has one unit of a class of our own, and a trait with it."""

    def setUp(self) -> None:
        super().setUp()
        host = present(self.placement.find_provider(self.backend.hosts[1]))
        self.nested = self.placement.create_provider(backends.unique('nested'), host.uuid)
        self.addCleanup(self.placement.delete_provider, self.nested.uuid)
        self.resource_class, self.trait = (
            f'CUSTOM_{backends.unique().upper().replace("-", "_")}' for _ in range(2)
        )
        self.placement.create_trait(self.trait)
        self.addCleanup(self.placement.delete_trait, self.trait)
        self.placement.add_trait(self.nested.uuid, self.trait)
        self.addCleanup(self.placement.set_traits, self.nested.uuid, frozenset())
        self.placement.create_resource_class(self.resource_class)
        self.addCleanup(self.placement.delete_resource_class, self.resource_class)
        self.placement.set_inventory(
            self.nested.uuid, Inventory(resource_class=self.resource_class, total=1, max_unit=1)
        )
        self.addCleanup(self.placement.remove_inventory, self.nested.uuid, self.resource_class)

    def land(self, **extra_specs: str) -> tuple[str, str]:
        """Make a server of a flavor that asks for this; return its id and host."""
        name = backends.unique()
        specs = {key.replace('__', ':'): value for key, value in extra_specs.items()}
        self.compute.create_flavor(base.Flavor(id=name, name=name, extra_specs=specs, **SMALL))
        self.addCleanup(self.compute.delete_flavor, name)
        server_id = self.compute.create_server(self.backend.draft(flavor_id=name))
        self.addCleanup(self.gone, server_id)
        return server_id, self.backend.until_still(server_id).host

    def test_who_takes_the_slot_lands_there_and_the_trait_is_of_use_with_it_only(self) -> None:
        slot = {f'resources__{self.resource_class}': '1'}
        trait = {f'trait__{self.trait}': 'required'}
        self.assertEqual('', self.land(**trait)[1])
        server_id, host = self.land(**slot, **trait)
        self.assertEqual(self.backend.hosts[1], host)
        self.assertEqual({self.resource_class: 1}, self.placement.usages(self.nested.uuid))
        self.assertEqual('', self.land(**slot)[1])
        self.gone(server_id)
        # Nova updates Placement an instant after the server is gone.
        until(
            lambda: not any(self.placement.usages(self.nested.uuid).values()),
            self.backend.patience,
            'the slot is free',
        )
