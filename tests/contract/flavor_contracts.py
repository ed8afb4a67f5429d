# SPDX-License-Identifier: Apache-2.0

"""What every client of Nova is held to about flavors, server groups and services."""

from __future__ import annotations

import dataclasses

from climate import exceptions
from climate.cloud import base
from tests.contract import backends
from tests.contract import contracts
from tests.narrowing import present


class FlavorCase(contracts.Contract):
    """Makes flavors."""

    def draft(self, **wanted: object) -> base.Flavor:
        """Describe a flavor of a unique id and name."""
        name = backends.unique()
        values = {'id': name, 'name': f'reservation:{name}', 'vcpus': 1, 'memory_mb': 64}
        return base.Flavor(**values | {'disk_gb': 0, 'public': False} | wanted)

    def make(self, **wanted: object) -> base.Flavor:
        """Make a flavor that goes away after the test."""
        draft = self.draft(**wanted)
        self.addCleanup(self.compute.delete_flavor, draft.id)
        self.compute.create_flavor(draft)
        return draft


class FlavorContract(FlavorCase):
    """list_flavors and all that follows it."""

    def test_made_as_described_found_and_listed(self) -> None:
        specs = {
            'aggregate_instance_extra_specs:reservation': 'x',
            'resources:CUSTOM_RESERVATION': '1',
            'trait:CUSTOM_X': 'required',
            'hw:cpu_policy': 'dedicated',
        }
        for wanted in (
            {},
            {'public': True},
            {'vcpus': 3, 'disk_gb': 2, 'ephemeral_gb': 1, 'swap_mb': 512, 'extra_specs': specs},
        ):
            made = self.make(**wanted)
            self.assertEqual(made, self.compute.find_flavor(made.id))
            self.assertIn(made, self.compute.list_flavors())
        ids = [found.id for found in self.compute.list_flavors()]
        self.assertEqual(sorted(set(ids)), ids)

    def test_what_is_not_there_is_none(self) -> None:
        self.assertIsNone(self.compute.find_flavor(backends.unique()))
        self.assertIsNone(self.compute.find_flavor('a/b'))

    def test_ids_and_names_are_unique(self) -> None:
        made = self.make()
        other = self.draft()
        for draft in (
            made,
            dataclasses.replace(other, id=made.id),
            dataclasses.replace(other, name=made.name),
        ):
            self.assertRaises(base.CloudConflict, self.compute.create_flavor, draft)
        self.assertIsNone(self.compute.find_flavor(other.id))

    def test_what_nova_does_not_allow(self) -> None:
        for wanted in ({'vcpus': 0}, {'memory_mb': 0}, {'id': 'a/b'}, {'name': 'n' * 256}):
            draft = self.draft(**wanted)
            error = self.assertRaises(exceptions.Permanent, self.compute.create_flavor, draft)
            self.assertIs(exceptions.Permanent, type(error))

    def test_made_although_the_answer_was_lost(self) -> None:
        draft = self.draft(extra_specs={'a': '1'})
        self.addCleanup(self.compute.delete_flavor, draft.id)
        self.lost('compute.create_flavor', self.compute.create_flavor, draft)
        self.assertRaises(base.CloudConflict, self.compute.create_flavor, draft)
        self.compute.set_extra_specs(draft.id, draft.extra_specs)
        self.assertEqual(draft, self.compute.find_flavor(draft.id))

    def test_extra_specs_are_set_kept_and_removed(self) -> None:
        made = self.make(extra_specs={'a': '1', 'b': '2'})
        change = self.compute.set_extra_specs
        change(made.id, {'a': '3', 'b': None, 'missing': None, 'c:d': ''})
        self.assertEqual({'a': '3', 'c:d': ''}, self.specs(made))
        change(made.id, {})
        change(made.id, {'a': None, 'c:d': None})
        self.assertEqual({}, self.specs(made))

    def specs(self, flavor: base.Flavor) -> object:
        """Return the extra specs that a flavor has now."""
        return present(self.compute.find_flavor(flavor.id)).extra_specs

    def test_extra_specs_that_cannot_be(self) -> None:
        made = self.make()
        for specs in ({'ü': '1'}, {'k' * 256: '1'}, {'a': 'v' * 256}):
            self.assertRaises(exceptions.Permanent, self.compute.set_extra_specs, made.id, specs)
        self.assertEqual({}, self.specs(made))
        self.assertRaises(base.CloudNotFound, self.compute.set_extra_specs, 'nobody', {'a': '1'})

    def test_access_is_given_and_taken_and_again(self) -> None:
        made, project = self.make(), self.backend.other_project
        self.assertEqual(frozenset(), self.compute.list_flavor_access(made.id))
        for _ in range(2):
            self.compute.add_flavor_access(made.id, project)
            self.assertEqual({project}, self.compute.list_flavor_access(made.id))
        for _ in range(2):
            self.compute.remove_flavor_access(made.id, project)
            self.assertEqual(frozenset(), self.compute.list_flavor_access(made.id))

    def test_access_that_cannot_be(self) -> None:
        made, project = self.make(public=True), self.backend.other_project
        self.assertRaises(base.CloudConflict, self.compute.add_flavor_access, made.id, project)
        self.assertRaises(base.CloudConflict, self.compute.remove_flavor_access, made.id, project)
        self.assertRaises(base.CloudNotFound, self.compute.list_flavor_access, made.id)
        for verb in (self.compute.add_flavor_access, self.compute.remove_flavor_access):
            self.assertRaises(base.CloudNotFound, verb, 'nobody', project)
        self.assertRaises(base.CloudNotFound, self.compute.list_flavor_access, 'nobody')

    def test_access_although_the_answer_was_lost(self) -> None:
        made, project = self.make(), self.backend.other_project
        add = self.compute.add_flavor_access
        self.lost('compute.add_flavor_access', add, made.id, project)
        add(made.id, project)
        self.assertEqual({project}, self.compute.list_flavor_access(made.id))

    def test_deleted_and_again(self) -> None:
        made = self.make()
        for _ in range(2):
            self.compute.delete_flavor(made.id)
            self.assertIsNone(self.compute.find_flavor(made.id))

    def test_its_servers_stay_and_remember_it(self) -> None:
        made = self.make(disk_gb=1)
        host = self.backend.hosts[0]
        server_id = self.compute.create_server(self.backend.draft(host, flavor_id=made.id))
        self.addCleanup(self.gone, server_id)
        self.backend.until_still(server_id)
        (server,) = self.compute.list_servers_of_flavor(made.id)
        self.compute.delete_flavor(made.id)
        self.assertEqual((), self.compute.list_servers_of_flavor(made.id))
        self.assertEqual((server_id, made.id), (server.id, server.flavor_id))
        self.assertEqual(server, self.compute.find_server(server_id))


class ServerGroupContract(contracts.Contract):
    """list_server_groups and all that follows it."""

    def make(self, policy: base.Policy = 'affinity') -> base.ServerGroup:
        """Make a group that goes away after the test."""
        made = self.compute.create_server_group(backends.unique(), policy)
        self.addCleanup(self.compute.delete_server_group, made.id)
        return made

    def test_made_found_listed_and_deleted_and_again(self) -> None:
        policies: tuple[base.Policy, ...] = (
            'affinity',
            'anti-affinity',
            'soft-affinity',
            'soft-anti-affinity',
        )
        for policy in policies:
            made = self.make(policy)
            self.assertEqual((policy, ()), (made.policy, made.members))
            self.assertEqual(made, self.compute.find_server_group(made.id))
            self.assertIn(made, self.compute.list_server_groups())
            for _ in range(2):
                self.compute.delete_server_group(made.id)
                self.assertIsNone(self.compute.find_server_group(made.id))

    def test_what_cannot_be(self) -> None:
        create = self.compute.create_server_group
        self.assertRaises(exceptions.Permanent, create, backends.unique(), 'nonsense')
        self.assertRaises(exceptions.Permanent, create, '', 'affinity')

    def test_names_are_not_unique_and_the_group_of_a_lost_answer_is_found(self) -> None:
        made = self.make()
        create = self.compute.create_server_group
        self.lost('compute.create_server_group', create, made.name, 'affinity')
        same = [each for each in self.compute.list_server_groups() if each.name == made.name]
        self.assertEqual(2, len(same))
        for group in same:
            self.compute.delete_server_group(group.id)

    def test_its_servers_are_its_members_and_stay(self) -> None:
        made = self.make()
        draft = self.backend.draft(self.backend.hosts[0], scheduler_hints={'group': made.id})
        server_id = self.compute.create_server(draft)
        self.addCleanup(self.gone, server_id)
        self.backend.until_still(server_id)
        self.assertEqual((server_id,), present(self.compute.find_server_group(made.id)).members)
        self.compute.delete_server_group(made.id)
        self.assertIsNotNone(self.compute.find_server(server_id))

    def test_a_quota_that_is_used_up(self) -> None:
        with self.backend.poor('server_groups') as compute:
            create = compute.create_server_group
            self.assertRaises(base.CloudQuota, create, backends.unique(), 'affinity')


class ServiceContract(contracts.Contract):
    """list_services, enable_service, disable_service."""

    def service(self, host: str) -> base.ComputeService:
        """Return the nova-compute of a host."""
        return next(each for each in self.compute.list_services() if each.host == host)

    def test_every_host_has_one(self) -> None:
        listed = self.compute.list_services()
        hosts = [each.host for each in listed]
        self.assertEqual(sorted(set(hosts)), hosts)
        self.assertEqual(
            {each.service_host for each in self.compute.list_hypervisors()}, set(hosts)
        )
        for each in listed:
            self.assertRegex(each.id, backends.UUID)
            self.assertIn(each.state, ('up', 'down'))

    def test_disabled_and_enabled_and_again(self) -> None:
        host = self.backend.hosts[1]
        self.addCleanup(self.compute.enable_service, host)
        for reason in ('maintenance', 'ü' * 255):
            self.compute.disable_service(host, reason)
            found = self.service(host)
            self.assertEqual(('disabled', reason), (found.status, found.disabled_reason))
            self.assertEqual('disabled', self.hypervisor(host).status)
        for _ in range(2):
            self.compute.enable_service(host)
            found = self.service(host)
            self.assertEqual(('enabled', ''), (found.status, found.disabled_reason))
            self.assertEqual('enabled', self.hypervisor(host).status)

    def hypervisor(self, host: str) -> base.Hypervisor:
        """Return the hypervisor of a host."""
        return next(each for each in self.compute.list_hypervisors() if each.service_host == host)

    def test_a_reason_that_cannot_be(self) -> None:
        host = self.backend.hosts[1]
        self.addCleanup(self.compute.enable_service, host)
        for reason in ('', 'r' * 256):
            error = self.assertRaises(
                exceptions.Permanent, self.compute.disable_service, host, reason
            )
            self.assertIs(exceptions.Permanent, type(error))

    def test_what_is_not_there(self) -> None:
        self.assertRaises(base.CloudNotFound, self.compute.enable_service, 'nobody')
        self.assertRaises(base.CloudNotFound, self.compute.disable_service, 'nobody', 'x')
