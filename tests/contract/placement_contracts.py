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

"""What every client of Placement is held to: the docstrings of base, as tests."""

from __future__ import annotations

from climate import exceptions
from climate.clients import base
from climate.domain.resources import Inventory
from tests.contract import contracts
from tests.contract import worlds


class PlacementContract(contracts.Contract):
    """Every verb of Placement."""

    def host(self) -> base.Provider:
        """Return the provider of some hypervisor."""
        name = self.compute.list_hypervisors()[0].hostname
        found = self.placement.find_provider(name)
        assert found is not None
        return found

    def test_every_hypervisor_has_a_provider(self) -> None:
        for hypervisor in self.compute.list_hypervisors():
            found = self.placement.find_provider(hypervisor.hostname)
            assert found is not None
            self.assertEqual((hypervisor.hostname, None), (found.name, found.parent_uuid))

    def test_what_is_not_there_is_none(self) -> None:
        self.assertIsNone(self.placement.find_provider(worlds.unique()))
        self.assertIsNone(self.placement.find_provider('a b&c=d/ä'))

    def test_inventories_are_what_nova_says(self) -> None:
        hypervisor = self.compute.list_hypervisors()[0]
        found = {item.resource_class: item for item in self.placement.inventories(self.host().uuid)}
        self.assertEqual(sorted(found), list(found))
        for item in found.values():
            self.assertIsInstance(item, Inventory)
        self.assertEqual(hypervisor.vcpus, found['VCPU'].total)
        self.assertEqual(hypervisor.memory_mb, found['MEMORY_MB'].total)

    def test_traits_are_upper_case(self) -> None:
        found = self.placement.traits(self.host().uuid)
        self.assertIsInstance(found, frozenset)
        self.assertEqual({trait.upper() for trait in found}, found)

    def test_nothing_is_known_of_what_is_not_there(self) -> None:
        self.assertRaises(base.CloudNotFound, self.placement.inventories, contracts.NOBODY)
        self.assertRaises(base.CloudNotFound, self.placement.traits, contracts.NOBODY)

    def test_made_nested_found_and_deleted_and_again(self) -> None:
        parent = self.host()
        made = self.placement.create_provider(worlds.unique('blazar'), parent.uuid)
        self.assertEqual(made, self.placement.find_provider(made.name))
        self.assertEqual(parent.uuid, made.parent_uuid)
        self.assertEqual((), self.placement.inventories(made.uuid))
        self.assertEqual(frozenset(), self.placement.traits(made.uuid))
        for _ in range(2):
            self.placement.delete_provider(made.uuid)
            self.assertIsNone(self.placement.find_provider(made.name))

    def test_made_as_a_root(self) -> None:
        made = self.placement.create_provider(worlds.unique(), None)
        self.addCleanup(self.placement.delete_provider, made.uuid)
        self.assertIsNone(made.parent_uuid)

    def test_names_are_unique(self) -> None:
        name = self.host().name
        self.assertRaises(base.CloudConflict, self.placement.create_provider, name, None)

    def test_not_nested_in_what_is_not_there(self) -> None:
        name = worlds.unique()
        self.assertRaises(
            exceptions.Permanent, self.placement.create_provider, name, contracts.NOBODY
        )
        self.assertIsNone(self.placement.find_provider(name))

    def test_not_deleted_while_others_are_nested_in_it(self) -> None:
        root = self.placement.create_provider(worlds.unique(), None)
        child = self.placement.create_provider(worlds.unique(), root.uuid)
        self.assertRaises(base.CloudConflict, self.placement.delete_provider, root.uuid)
        self.placement.delete_provider(child.uuid)
        self.placement.delete_provider(root.uuid)

    def test_made_and_deleted_although_the_answer_was_lost(self) -> None:
        name = worlds.unique()
        create, delete = self.placement.create_provider, self.placement.delete_provider
        self.lost('placement.create_provider', create, name, None)
        found = self.placement.find_provider(name)
        assert found is not None
        self.assertRaises(base.CloudConflict, create, name, None)
        self.lost('placement.delete_provider', delete, found.uuid)
        self.assertIsNone(self.placement.find_provider(name))
        delete(found.uuid)
