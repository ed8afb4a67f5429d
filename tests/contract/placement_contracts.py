# SPDX-License-Identifier: Apache-2.0

"""What every client of Placement is held to: the docstrings of base, as tests."""

from __future__ import annotations

import functools

from climate import exceptions
from climate.cloud import base
from climate.domain.resources import Inventory
from tests.contract import backends
from tests.contract import contracts
from tests.narrowing import present
from tests.threads import together


class PlacementContract(contracts.Contract):
    """Every verb of Placement."""

    def hypervisor(self) -> base.Hypervisor:
        """Return the hypervisor of the first host that the test may use."""
        found = self.compute.list_hypervisors()
        return next(each for each in found if each.service_host == self.backend.hosts[0])

    def host(self) -> base.Provider:
        """Return the provider of some hypervisor."""
        return present(self.placement.find_provider(self.hypervisor().hostname))

    def test_every_hypervisor_has_a_provider(self) -> None:
        for hypervisor in self.compute.list_hypervisors():
            found = present(self.placement.find_provider(hypervisor.hostname))
            self.assertEqual((hypervisor.hostname, None), (found.name, found.parent_uuid))

    def test_what_is_not_there_is_none(self) -> None:
        self.assertIsNone(self.placement.find_provider(backends.unique()))
        self.assertIsNone(self.placement.find_provider('a b&c=d/ä'))

    def test_inventories_are_what_nova_says(self) -> None:
        hypervisor = self.hypervisor()
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
        made = self.placement.create_provider(backends.unique('blazar'), parent.uuid)
        self.assertEqual(made, self.placement.find_provider(made.name))
        self.assertEqual(parent.uuid, made.parent_uuid)
        self.assertEqual((), self.placement.inventories(made.uuid))
        self.assertEqual(frozenset(), self.placement.traits(made.uuid))
        for _ in range(2):
            self.placement.delete_provider(made.uuid)
            self.assertIsNone(self.placement.find_provider(made.name))

    def test_made_as_a_root(self) -> None:
        made = self.placement.create_provider(backends.unique(), None)
        self.addCleanup(self.placement.delete_provider, made.uuid)
        self.assertIsNone(made.parent_uuid)

    def test_names_are_unique(self) -> None:
        name = self.host().name
        self.assertRaises(base.CloudConflict, self.placement.create_provider, name, None)

    def test_not_nested_in_what_is_not_there(self) -> None:
        name = backends.unique()
        self.assertRaises(
            exceptions.Permanent, self.placement.create_provider, name, contracts.NOBODY
        )
        self.assertIsNone(self.placement.find_provider(name))

    def test_not_deleted_while_others_are_nested_in_it(self) -> None:
        root = self.placement.create_provider(backends.unique(), None)
        child = self.placement.create_provider(backends.unique(), root.uuid)
        self.assertRaises(base.CloudConflict, self.placement.delete_provider, root.uuid)
        self.placement.delete_provider(child.uuid)
        self.placement.delete_provider(root.uuid)

    def test_made_and_deleted_although_the_answer_was_lost(self) -> None:
        name = backends.unique()
        create, delete = self.placement.create_provider, self.placement.delete_provider
        self.lost('placement.create_provider', create, name, None)
        found = present(self.placement.find_provider(name))
        self.assertRaises(base.CloudConflict, create, name, None)
        self.lost('placement.delete_provider', delete, found.uuid)
        self.assertIsNone(self.placement.find_provider(name))
        delete(found.uuid)


class OwnProvider(contracts.Contract):
    """Has a provider of its own."""

    def setUp(self) -> None:
        super().setUp()
        self.provider = self.placement.create_provider(backends.unique(), None)
        self.addCleanup(self.placement.delete_provider, self.provider.uuid)

    def resource_class(self) -> str:
        """Make a resource class that goes away after the test."""
        name = f'CUSTOM_{backends.unique().upper().replace("-", "_")}'
        self.placement.create_resource_class(name)
        self.addCleanup(self.placement.delete_resource_class, name)
        return name

    def trait(self) -> str:
        """Make a trait that goes away after the test."""
        name = f'CUSTOM_{backends.unique().upper().replace("-", "_")}'
        self.placement.create_trait(name)
        self.addCleanup(self.placement.delete_trait, name)
        return name


class ProviderLimitsContract(PlacementContract):
    """What the stub need not know, besides."""

    def test_listed_by_the_beginning_of_the_name_and_by_parent(self) -> None:
        parent, prefix = self.host(), backends.unique('blazar')
        made = [
            self.placement.create_provider(f'{prefix}_{number}', parent.uuid) for number in (2, 1)
        ]
        for provider in made:
            self.addCleanup(self.placement.delete_provider, provider.uuid)
        listed = self.placement.list_providers
        self.assertEqual(tuple(reversed(made)), listed(prefix=prefix))
        self.assertEqual(tuple(reversed(made)), listed(prefix=prefix, parent_uuid=parent.uuid))
        self.assertEqual((), listed(prefix=prefix, parent_uuid=made[0].uuid))
        self.assertEqual((), listed(parent_uuid=contracts.NOBODY))
        self.assertEqual((), listed(prefix=prefix.upper()))
        names = [each.name for each in listed()]
        self.assertEqual(sorted(names), names)
        self.assertIn(parent.name, names)

    def test_a_name_is_found_as_it_is_written_only(self) -> None:
        made = self.placement.create_provider(backends.unique(), None)
        self.addCleanup(self.placement.delete_provider, made.uuid)
        self.assertIsNone(self.placement.find_provider(made.name.upper()))

    def test_names_that_cannot_be(self) -> None:
        for name in ('', 'x' * 201):
            self.assertRaises(exceptions.Permanent, self.placement.create_provider, name, None)


class InventoryContract(OwnProvider):
    """Inventories, what is held of them, and resource classes."""

    def inventory(self, name: str, total: int = 4) -> Inventory:
        """Describe an inventory."""
        return Inventory(resource_class=name, total=total, max_unit=total)

    def removed(self, name: str) -> None:
        """Take a class from the provider after the test."""
        self.addCleanup(self.placement.remove_inventory, self.provider.uuid, name)

    def test_classes_are_made_listed_and_deleted_and_again(self) -> None:
        name = self.resource_class()
        self.placement.create_resource_class(name)
        self.assertIn('VCPU', self.placement.list_resource_classes())
        self.assertEqual({name}, self.placement.list_resource_classes(name))
        for _ in range(2):
            self.placement.delete_resource_class(name)
            self.assertEqual(frozenset(), self.placement.list_resource_classes(name))

    def test_classes_that_cannot_be(self) -> None:
        for name in ('VCPU', 'custom_x', 'CUSTOM_a', 'CUSTOM_A-B', 'CUSTOM_' + 'A' * 249, 'a/b'):
            self.assertRaises(exceptions.Permanent, self.placement.create_resource_class, name)
        self.assertRaises(exceptions.Permanent, self.placement.delete_resource_class, 'VCPU')

    def test_set_changed_and_removed_and_again(self) -> None:
        uuid, name = self.provider.uuid, self.resource_class()
        self.removed(name)
        other = Inventory(resource_class='VCPU', total=8, reserved=8, allocation_ratio=2.0)
        self.placement.set_inventory(uuid, other)
        for total in (4, 4, 1):
            self.placement.set_inventory(uuid, self.inventory(name, total))
            expected = {name: self.inventory(name, total), 'VCPU': other}
            found = self.placement.inventories(uuid)
            self.assertEqual(expected, {each.resource_class: each for each in found})
        self.assertRaises(base.CloudConflict, self.placement.delete_resource_class, name)
        for _ in range(2):
            self.placement.remove_inventory(uuid, name)
            self.assertEqual((other,), self.placement.inventories(uuid))

    def test_inventories_that_cannot_be(self) -> None:
        uuid = self.provider.uuid
        put = self.placement.set_inventory
        for inventory in (
            Inventory(resource_class='VCPU', total=0),
            Inventory(resource_class='VCPU', total=1, reserved=2),
            self.inventory('CUSTOM_NOBODY_HAS_MADE'),
        ):
            error = self.assertRaises(exceptions.Permanent, put, uuid, inventory)
            self.assertIs(exceptions.Permanent, type(error))
        self.assertRaises(base.CloudNotFound, put, contracts.NOBODY, self.inventory('VCPU'))
        self.placement.remove_inventory(contracts.NOBODY, 'VCPU')
        self.assertEqual((), self.placement.inventories(uuid))

    def test_set_although_the_answer_was_lost(self) -> None:
        uuid = self.provider.uuid
        inventory = self.inventory('VCPU')
        self.lost('placement.set_inventory', self.placement.set_inventory, uuid, inventory)
        self.assertEqual((inventory,), self.placement.inventories(uuid))
        self.placement.set_inventory(uuid, inventory)

    def test_many_at_once(self) -> None:
        uuid = self.provider.uuid
        names = [self.resource_class() for _ in range(8)]
        for name in names:
            self.removed(name)
        put = self.placement.set_inventory
        together(functools.partial(put, uuid), [self.inventory(name) for name in names])
        found = [each.resource_class for each in self.placement.inventories(uuid)]
        self.assertEqual(sorted(names), found)

    def test_who_holds_what(self) -> None:
        server_id = self.boot(self.backend.hosts[0])
        server = present(self.compute.find_server(server_id))
        flavor = self.compute.find_flavor(server.flavor_id)
        provider = self.placement.find_provider(server.hypervisor_hostname)
        assert flavor is not None
        (mine,) = (
            each
            for each in self.placement.allocations(provider.uuid)
            if each.consumer_id == server_id
        )
        sizes = {'VCPU': flavor.vcpus, 'MEMORY_MB': flavor.memory_mb, 'DISK_GB': flavor.disk_gb}
        self.assertEqual(sizes, mine.amounts)
        usages = self.placement.usages(provider.uuid)
        self.assertEqual(sizes, {name: usages[name] for name in sizes})
        for each in self.placement.inventories(provider.uuid):
            self.assertIn(each.resource_class, usages)
        self.gone(server_id)
        self.assertEqual((), self.placement.allocations(provider.uuid))
        self.assertEqual({0}, set(self.placement.usages(provider.uuid).values()))

    def test_what_is_allocated_is_not_removed(self) -> None:
        root = present(self.placement.find_provider(self.backend.hosts[0]))
        name = self.resource_class()
        nested = self.placement.create_provider(backends.unique('blazar'), root.uuid)
        self.addCleanup(self.placement.delete_provider, nested.uuid)
        self.placement.set_inventory(nested.uuid, self.inventory(name))
        sizes = {'vcpus': 1, 'memory_mb': 64, 'disk_gb': 1}
        names = {'id': backends.unique(), 'name': backends.unique('reservation')}
        flavor = base.Flavor(**names, **sizes, extra_specs={f'resources:{name}': '2'})
        self.addCleanup(self.compute.delete_flavor, flavor.id)
        self.compute.create_flavor(flavor)
        draft = self.backend.draft(self.backend.hosts[0], flavor_id=flavor.id)
        server_id = self.compute.create_server(draft)
        self.addCleanup(self.gone, server_id)
        self.assertEqual('ACTIVE', self.backend.until_still(server_id).status)
        self.assertEqual({name: 2}, self.placement.usages(nested.uuid))
        for verb, *arguments in (
            (self.placement.remove_inventory, nested.uuid, name),
            (self.placement.delete_provider, nested.uuid),
        ):
            self.assertRaises(base.CloudConflict, verb, *arguments)
        # Less than is held: nobody loses it, and nothing more is to be had.
        self.placement.set_inventory(nested.uuid, self.inventory(name, 1))
        self.assertEqual({name: 2}, self.placement.usages(nested.uuid))
        self.gone(server_id)
        self.placement.remove_inventory(nested.uuid, name)

    def test_nothing_is_known_of_what_is_not_there(self) -> None:
        for verb in (self.placement.usages, self.placement.allocations):
            self.assertRaises(base.CloudNotFound, verb, contracts.NOBODY)


class TraitContract(OwnProvider):
    """Traits of our own, and those of providers."""

    def test_made_and_deleted_and_again(self) -> None:
        uuid, name = self.provider.uuid, self.trait()
        self.placement.create_trait(name)
        self.placement.add_trait(uuid, name)
        self.placement.set_traits(uuid, frozenset())
        for _ in range(2):
            self.placement.delete_trait(name)
            self.assertRaises(exceptions.Permanent, self.placement.add_trait, uuid, name)

    def test_names_that_cannot_be(self) -> None:
        for name in ('HW_CPU_X86_AVX2', 'custom_x', 'CUSTOM_A-B', 'CUSTOM_' + 'A' * 249, 'a/b'):
            self.assertRaises(exceptions.Permanent, self.placement.create_trait, name)
        self.assertRaises(exceptions.Permanent, self.placement.delete_trait, 'HW_CPU_X86_AVX2')

    def test_set_and_added_and_again(self) -> None:
        uuid, one, two = self.provider.uuid, self.trait(), self.trait()
        self.addCleanup(self.placement.set_traits, uuid, frozenset())
        for _ in range(2):
            self.placement.set_traits(uuid, frozenset({one, 'HW_CPU_X86_AVX2'}))
            self.assertEqual({one, 'HW_CPU_X86_AVX2'}, self.placement.traits(uuid))
        for _ in range(2):
            self.placement.add_trait(uuid, two)
            self.assertEqual({one, two, 'HW_CPU_X86_AVX2'}, self.placement.traits(uuid))
        self.assertRaises(base.CloudConflict, self.placement.delete_trait, two)
        self.placement.set_traits(uuid, frozenset())
        self.assertEqual(frozenset(), self.placement.traits(uuid))

    def test_what_is_not_there(self) -> None:
        uuid = self.provider.uuid
        for verb, *arguments in (
            (self.placement.add_trait, uuid, 'CUSTOM_NOBODY_HAS_MADE'),
            (self.placement.set_traits, uuid, frozenset({'CUSTOM_NOBODY_HAS_MADE'})),
        ):
            error = self.assertRaises(exceptions.Permanent, verb, *arguments)
            self.assertIs(exceptions.Permanent, type(error))
        for verb, *arguments in (
            (self.placement.add_trait, contracts.NOBODY, 'HW_CPU_X86_AVX2'),
            (self.placement.set_traits, contracts.NOBODY, frozenset()),
        ):
            self.assertRaises(base.CloudNotFound, verb, *arguments)

    def test_set_although_the_answer_was_lost(self) -> None:
        uuid, name = self.provider.uuid, self.trait()
        self.addCleanup(self.placement.set_traits, uuid, frozenset())
        wanted = frozenset({name})
        self.lost('placement.set_traits', self.placement.set_traits, uuid, wanted)
        self.assertEqual(wanted, self.placement.traits(uuid))
        self.placement.set_traits(uuid, wanted)

    def test_many_at_once(self) -> None:
        uuid = self.provider.uuid
        names = [self.trait() for _ in range(8)]
        self.addCleanup(self.placement.set_traits, uuid, frozenset())
        together(functools.partial(self.placement.add_trait, uuid), names)
        self.assertEqual(set(names), self.placement.traits(uuid))
