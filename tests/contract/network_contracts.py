# SPDX-License-Identifier: Apache-2.0

"""What every client of Neutron is held to: the docstrings of its protocols, as tests."""

from __future__ import annotations

from climate import exceptions
from climate.cloud import base
from tests.contract import backends
from tests.contract import contracts
from tests.contract import network_backends
from tests.narrowing import present

FREE = '198.51.100.100'


class NetworkingContract(contracts.Contract):
    """Makes networks that go away after the test."""

    def setUp(self) -> None:
        super().setUp()
        self.network: base.Networking = self.backend.cloud.network

    def made(self, name: str | None = None, segment: base.Segment | None = None) -> base.Network:
        """Make a network."""
        segment = segment or self.backend.segment()
        made = self.network.create_network(name or backends.unique(), self.backend.project, segment)
        self.addCleanup(self.clean_network, made.id)
        return made

    def clean_network(self, network_id: str) -> None:
        """Take a network down, whatever is on it."""
        for port in self.network.list_ports(network_id):
            if port.router_id:
                self.network.remove_router_interface(port.router_id, port.id)
                self.network.delete_router(port.router_id)
            else:
                self.network.delete_port(port.id)
        self.network.delete_network(network_id)

    def floating_ip(self, network_id: str, **options: str) -> base.FloatingIP:
        """Take a floating IP."""
        made = self.network.create_floating_ip(network_id, self.backend.project, **options)
        self.addCleanup(self.network.delete_floating_ip, made.id)
        return made


class NetworkContract(NetworkingContract):
    """Networks and subnets."""

    def test_made_found_and_listed(self) -> None:
        name, segment = backends.unique(), self.backend.segment()
        made = self.made(name, segment)
        self.assert_has(made, name=name, segment=segment, external=False, tags=frozenset())
        self.assertEqual(self.backend.project, made.project_id)
        self.assertRegex(made.id, backends.UUID)
        for found in (
            self.network.find_network(made.id),
            self.network.find_network(name),
            self.network.find_network_of_segment(segment),
        ):
            self.assertEqual(made, found)

    def test_described_and_described_otherwise(self) -> None:
        made = self.network.create_network(
            backends.unique(), self.backend.project, self.backend.segment(), description='for ä'
        )
        self.addCleanup(self.clean_network, made.id)
        self.assertEqual('for ä', made.description)
        name = backends.unique()
        describe = self.network.describe_network
        for description in ('else', ''):
            self.lost('network.describe_network', describe, made.id, name, description)
            describe(made.id, name, description)
            found = present(self.network.find_network(made.id))
            self.assertEqual((name, description), (found.name, found.description))
        self.assertRaises(base.CloudNotFound, describe, contracts.NOBODY, 'a', 'b')

    def test_a_tunnel_has_no_wires(self) -> None:
        number = self.backend.segment().segmentation_id + 100000
        tunnel = base.Segment(network_type='vxlan', physical_network=None, segmentation_id=number)
        self.assertEqual(tunnel, self.made(segment=tunnel).segment)
        self.assertIsNotNone(self.network.find_network_of_segment(tunnel))

    def test_what_is_not_there_is_none(self) -> None:
        for nobody in (backends.unique(), contracts.NOBODY, 'a/b?c=d', 'ä%'):
            self.assertIsNone(self.network.find_network(nobody))
        self.assertIsNone(self.network.find_network_of_segment(self.backend.segment()))
        self.assertEqual((), self.network.list_networks(backends.unique()))
        self.assertEqual((), self.network.list_subnets(contracts.NOBODY))
        self.assertEqual((), self.network.list_ports(contracts.NOBODY))

    def test_names_are_not_unique(self) -> None:
        made = self.made()
        self.made(made.name)
        self.assertRaises(base.CloudConflict, self.network.find_network, made.name)
        self.assertEqual(made, self.network.find_network(made.id))

    def test_a_segment_is_used_once(self) -> None:
        made = self.made()
        create = self.network.create_network
        arguments = (backends.unique(), self.backend.project, made.segment)
        self.assertRaises(base.CloudConflict, create, *arguments)
        self.assertIsNone(self.network.find_network(arguments[0]))
        self.network.delete_network(made.id)
        self.assertEqual(made.segment, self.made(segment=made.segment).segment)

    def test_a_segment_has_to_exist(self) -> None:
        for segment in (
            backends.vlan(5000),
            base.Segment(network_type='vlan', physical_network='no', segmentation_id=1000),
            base.Segment(network_type='no', physical_network=None, segmentation_id=1000),
            base.Segment(network_type='vxlan', physical_network='physnet1', segmentation_id=1),
        ):
            error = self.assertRaises(
                exceptions.Permanent, self.network.create_network, 'x', 'p', segment
            )
            self.assertIs(exceptions.Permanent, type(error))

    def test_a_quota_is_reported(self) -> None:
        self.backend.quota('networks', 1)
        self.made()
        self.assertRaises(base.CloudQuota, self.made)

    def test_tags_are_replaced(self) -> None:
        made, tag = self.made(), f'reservation:{backends.unique()}'
        self.network.set_network_tags(made.id, {'blazar', tag})
        for _ in range(2):
            (found,) = self.network.list_networks(tag)
            self.assertEqual((made.id, {'blazar', tag}), (found.id, found.tags))
        self.network.set_network_tags(made.id, {'blazar'})
        self.assertEqual((), self.network.list_networks(tag))
        self.assertIn(made.id, [found.id for found in self.network.list_networks('blazar')])
        self.network.set_network_tags(made.id, set())
        self.assertEqual(made, self.network.find_network(made.id))

    def test_nothing_is_tagged_that_is_not_there(self) -> None:
        with self.assertRaises(base.CloudNotFound):
            self.network.set_network_tags(contracts.NOBODY, {'a'})

    def test_made_tagged_and_deleted_although_the_answer_was_lost(self) -> None:
        name, segment = backends.unique(), self.backend.segment()
        create = self.network.create_network
        self.lost('network.create_network', create, name, self.backend.project, segment)
        found = present(self.network.find_network_of_segment(segment))
        self.assertEqual(name, found.name)
        self.assertRaises(base.CloudConflict, create, name, self.backend.project, segment)
        self.lost('network.set_network_tags', self.network.set_network_tags, found.id, {'a'})
        self.network.set_network_tags(found.id, {'a'})
        self.lost('network.delete_network', self.network.delete_network, found.id)
        self.assertIsNone(self.network.find_network(found.id))
        self.network.delete_network(found.id)

    def test_subnets_are_reported(self) -> None:
        made = self.made()
        subnet_id = self.backend.subnet(made.id)
        (found,) = self.network.list_subnets(made.id)
        self.assert_has(found, id=subnet_id, network_id=made.id, cidr='10.9.0.0/24')
        pool = ('10.9.0.2', '10.9.0.254')
        self.assert_has(found, gateway_ip='10.9.0.1', allocation_pools=(pool,))

    def test_the_pool_of_an_external_network_is_reported(self) -> None:
        network_id, subnet_id = self.backend.external()
        self.assertTrue(present(self.network.find_network(network_id)).external)
        (subnet,) = self.network.list_subnets(network_id)
        self.assertEqual((subnet_id, network_backends.CIDR), (subnet.id, subnet.cidr))
        self.assertEqual((network_backends.POOL,), subnet.allocation_pools)

    def test_subnets_go_alone_or_with_their_network_and_again(self) -> None:
        made = self.made()
        self.network.delete_subnet(self.backend.subnet(made.id))
        self.assertEqual((), self.network.list_subnets(made.id))
        subnet_id = self.backend.subnet(made.id)
        for _ in range(2):
            self.network.delete_network(made.id)
            self.assertIsNone(self.network.find_network(made.id))
        self.assertEqual((), self.network.list_subnets(made.id))
        self.network.delete_subnet(subnet_id)


class PortContract(NetworkingContract):
    """Ports and routers."""

    def setUp(self) -> None:
        super().setUp()
        self.made_network = self.made()
        self.subnet = self.backend.subnet(self.made_network.id)

    def router(self) -> tuple[str, str, str]:
        """Plug in a router; return it, its port and the external network."""
        external, _ = self.backend.external()
        router_id = self.backend.router(self.subnet, external)
        (port,) = self.network.list_ports(self.made_network.id)
        self.assertEqual((router_id, router_id), (port.router_id, port.device_id))
        self.assertEqual(self.backend.project, port.project_id)
        return router_id, port.id, external

    def test_ports_hold_their_subnet_and_their_network(self) -> None:
        port_id = self.backend.port(self.subnet)
        (found,) = self.network.list_ports(self.made_network.id)
        self.assertEqual((port_id, '', None), (found.id, found.device_owner, found.router_id))
        delete = self.network.delete_network
        self.assertRaises(base.CloudConflict, delete, self.made_network.id)
        self.assertRaises(base.CloudConflict, self.network.delete_subnet, self.subnet)
        for _ in range(2):
            self.network.delete_port(port_id)
            self.assertEqual((), self.network.list_ports(self.made_network.id))
        delete(self.made_network.id)

    def test_a_network_is_taken_down_step_by_step(self) -> None:
        router_id, port_id, _ = self.router()
        for call, *arguments in (
            (self.network.delete_port, port_id),
            (self.network.delete_router, router_id),
            (self.network.delete_subnet, self.subnet),
            (self.network.delete_network, self.made_network.id),
        ):
            self.assertRaises(base.CloudConflict, call, *arguments)
        remove = self.network.remove_router_interface
        self.lost('network.remove_router_interface', remove, router_id, port_id)
        for _ in range(2):
            remove(router_id, port_id)
            self.network.delete_router(router_id)
            self.network.delete_subnet(self.subnet)
            self.network.delete_network(self.made_network.id)

    def test_a_router_that_floating_ips_need_stays(self) -> None:
        router_id, port_id, external = self.router()
        port = self.backend.port(self.subnet)
        floating = self.floating_ip(external)
        self.backend.attach(floating.id, port)
        remove = self.network.remove_router_interface
        self.assertRaises(base.CloudConflict, remove, router_id, port_id)
        self.network.delete_floating_ip(floating.id)
        remove(router_id, port_id)

    def test_a_router_with_routes_through_it_stays(self) -> None:
        router_id, port_id, _ = self.router()
        self.backend.route(router_id, '10.9.0.77')
        remove = self.network.remove_router_interface
        self.assertRaises(base.CloudConflict, remove, router_id, port_id)
        self.lost('network.remove_routes', self.network.remove_routes, router_id, port_id)
        self.network.remove_routes(router_id, port_id)
        remove(router_id, port_id)
        self.network.remove_routes(router_id, port_id)
        self.network.remove_routes(contracts.NOBODY, contracts.NOBODY)

    def test_a_port_that_goes_leaves_its_floating_ip(self) -> None:
        _, _, external = self.router()
        port = self.backend.port(self.subnet)
        floating = self.floating_ip(external, address=FREE)
        self.backend.attach(floating.id, port)
        self.assertEqual(port, present(self.network.find_floating_ip(external, FREE)).port_id)
        self.network.delete_port(port)
        self.assertEqual(floating, self.network.find_floating_ip(external, FREE))

    def test_what_is_gone_is_fine(self) -> None:
        self.network.remove_router_interface(contracts.NOBODY, contracts.NOBODY)
        self.network.delete_router(contracts.NOBODY)
        self.network.delete_port(contracts.NOBODY)


class FloatingIPContract(NetworkingContract):
    """Floating IPs."""

    def setUp(self) -> None:
        super().setUp()
        self.external, self.subnet = self.backend.external()

    def take(self, **options: str) -> base.FloatingIP:
        """Take a floating IP of the external network."""
        return self.floating_ip(self.external, **options)

    def test_one_of_ones_choice_is_made_and_found(self) -> None:
        self.assertIsNone(self.network.find_floating_ip(self.external, FREE))
        made = self.take(subnet_id=self.subnet, address=FREE, description='for ä')
        self.assertEqual('for ä', made.description)
        self.assert_has(made, address=FREE, port_id=None, tags=frozenset())
        self.assert_has(made, network_id=self.external, project_id=self.backend.project)
        self.assertEqual(made, self.network.find_floating_ip(self.external, FREE))
        self.assertIsNone(self.network.find_floating_ip(contracts.NOBODY, FREE))

    def test_neutron_chooses_of_the_pool_until_it_is_used_up(self) -> None:
        made = [self.take(subnet_id=self.subnet) for _ in range(2)] + [self.take()]
        pool = ['198.51.100.10', '198.51.100.11', '198.51.100.12']
        self.assertEqual(pool, sorted(found.address for found in made))
        self.assertRaises(base.CloudConflict, self.take)
        self.assertEqual(FREE, self.take(address=FREE).address)

    def test_an_address_is_used_once(self) -> None:
        made = self.take(address=FREE)
        self.assert_error(base.CloudConflict, FREE, self.take, address=FREE)
        self.network.delete_floating_ip(made.id)
        self.take(address=FREE)

    def test_what_cannot_be_had_is_refused(self) -> None:
        inner = self.made()
        self.backend.subnet(inner.id)
        for expected, network_id, options in (
            (base.CloudNotFound, contracts.NOBODY, {}),
            (base.CloudNotFound, self.external, {'subnet_id': contracts.NOBODY}),
            (exceptions.Permanent, self.external, {'address': '192.0.2.1'}),
            (exceptions.Permanent, inner.id, {}),
        ):
            error = self.assertRaises(exceptions.Permanent, self.floating_ip, network_id, **options)
            self.assertIs(expected, type(error), error.message)

    def test_a_quota_is_reported(self) -> None:
        self.backend.quota('floatingips', 1)
        self.take()
        self.assertRaises(base.CloudQuota, self.take)

    def test_tags_are_replaced(self) -> None:
        tag = f'reservation:{backends.unique()}'
        made = self.take(address=FREE, description=tag)
        self.network.set_floating_ip_tags(made.id, {'blazar', tag})
        (found,) = self.network.list_floating_ips(tag, description=tag)
        self.assertEqual((made.id, {'blazar', tag}), (found.id, found.tags))
        self.network.set_floating_ip_tags(made.id, set())
        self.assertEqual((), self.network.list_floating_ips(tag))
        self.assertEqual(1, len(self.network.list_floating_ips(description=tag)))
        with self.assertRaises(base.CloudNotFound):
            self.network.set_floating_ip_tags(contracts.NOBODY, {'a'})

    def test_deleted_and_again(self) -> None:
        made = self.take(address=FREE)
        for _ in range(2):
            self.network.delete_floating_ip(made.id)
            self.assertIsNone(self.network.find_floating_ip(self.external, FREE))

    def test_they_are_ports_of_their_network(self) -> None:
        made = self.take()
        (port,) = self.network.list_ports(self.external)
        self.assertEqual(('network:floatingip', made.id), (port.device_owner, port.device_id))
        find = self.network.find_port_of_address
        self.assertEqual(port, find(self.external, made.address))
        for network_id, address in ((self.external, FREE), (contracts.NOBODY, made.address)):
            self.assertIsNone(find(network_id, address))
        self.assertRaises(base.CloudConflict, self.network.delete_port, port.id)
        self.network.delete_floating_ip(made.id)
        self.assertEqual((), self.network.list_ports(self.external))

    def test_those_that_lead_nowhere_go_with_their_network(self) -> None:
        self.take(address=FREE)
        self.network.delete_network(self.external)
        self.assertIsNone(self.network.find_floating_ip(self.external, FREE))

    def test_those_that_lead_somewhere_hold_their_network(self) -> None:
        subnet = self.backend.subnet(self.made().id)
        self.backend.router(subnet, self.external)
        self.backend.attach(self.take().id, self.backend.port(subnet))
        self.assertRaises(base.CloudConflict, self.network.delete_network, self.external)

    def test_made_and_deleted_although_the_answer_was_lost(self) -> None:
        create = self.network.create_floating_ip
        self.backend.lose_answer('network.create_floating_ip')
        self.assertRaises(exceptions.Transient, self.take, address=FREE)
        found = present(self.network.find_floating_ip(self.external, FREE))
        with self.assertRaises(base.CloudConflict):
            create(self.external, self.backend.project, address=FREE)
        self.lost('network.delete_floating_ip', self.network.delete_floating_ip, found.id)
        self.assertIsNone(self.network.find_floating_ip(self.external, FREE))
        self.network.delete_floating_ip(found.id)
