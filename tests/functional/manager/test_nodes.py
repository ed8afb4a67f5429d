# SPDX-License-Identifier: Apache-2.0

"""Hosts that share their nova-compute, have a new name, or are in an operator's zone."""

from __future__ import annotations

import dataclasses

from climate import exceptions
from climate.domain.health import HealActive
from climate.domain.leases import Lease
from climate.plugins.host import errors
from climate.plugins.host.plugin import PhysicalHost
from climate.resources.registrar import Registrar
from tests import base
from tests import drafts
from tests.databases import fetch
from tests.functional.manager.harness import changed
from tests.functional.manager.harness import PROJECT
from tests.functional.manager.harness import Site

STRANGER = 'red'
SETTINGS = changed(heal_active=HealActive.NEVER)


class NodesCase(base.TestCase):
    """One registered host, whose nova-compute has another name than the host."""

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(Site(SETTINGS, hosts=0))
        self.cloud = self.site.cloud
        self.cloud.seed(1)
        self.registrar = Registrar(self.site.store, {'physical:host': PhysicalHost()}, self.cloud)
        self.cloud.add_hypervisor('node-1', service_host='ironic')

    def register(self, name: str = 'node-1') -> int:
        """Register a host."""
        return self.registrar.register_resource(drafts.host(name))

    def share(self) -> None:
        """Add a second node to the nova-compute."""
        self.cloud.add_hypervisor('node-2', service_host='ironic')

    def boot(self, project: str, node: str, name: str) -> None:
        """Start a server on a node of the nova-compute."""
        self.cloud.boot_server('ironic', project, name, node=node)

    def servers(self) -> set[str]:
        """Return the names of all servers."""
        return {server.name for server in self.cloud.servers()}

    def pooled(self) -> tuple[str, ...]:
        """Return the service hosts in the pool."""
        (pool,) = (item for item in self.cloud.aggregates() if item.name == 'freepool')
        return tuple(sorted(pool.hosts))

    def error(self, lease: Lease) -> str:
        """Return the errors of the events of a lease."""
        return ' '.join(event.error or '' for event in self.site.now(lease).events)


class TestSharedNodes(NodesCase):
    """A nova-compute that serves several nodes."""

    def test_registration_is_refused(self) -> None:
        self.share()
        for name, other in (('node-1', 'node-2'), ('node-2', 'node-1')):
            error = self.assertRaises(errors.HostShared, self.register, name)
            self.assertIn(f'nova-compute ironic also serves {other}', error.message)
        self.assertEqual((), self.pooled())

    def test_a_node_that_appears_later_keeps_its_servers(self) -> None:
        self.register()
        lease = self.site.create(60, 3600)
        self.share()
        self.boot(STRANGER, 'node-1', 'evictable')
        self.boot(STRANGER, 'node-2', 'precious')
        self.assertEqual('ERROR', self.site.status_at(600, lease))
        self.assertEqual(set(), self.site.hosts(lease))
        self.assertEqual({'evictable', 'precious'}, self.servers())
        self.assertIn('nova-compute ironic of host node-1 serves other nodes', self.error(lease))
        self.assertIn('node-2', self.error(lease))

    def test_an_active_lease_ends_without_the_servers_of_other_nodes(self) -> None:
        self.register()
        lease = self.site.create(0, 3600, until=10)
        self.share()
        self.boot(PROJECT, 'node-1', 'own')
        self.boot(PROJECT, 'node-2', 'own-elsewhere')
        self.boot(STRANGER, 'node-2', 'precious')
        self.site.until(3900)
        self.assertEqual({'own-elsewhere', 'precious'}, self.servers())
        self.assertIn('nodes of nova-compute ironic that are not leased: node-2', self.error(lease))
        for server in self.cloud.servers():
            self.cloud.compute.delete_server(server.id)
        self.assertEqual('TERMINATED', self.site.status_at(7200, lease))
        self.assertEqual(('ironic',), self.pooled())

    def test_only_the_registered_node_has_to_be_empty_to_leave(self) -> None:
        number = self.register()
        self.share()
        self.boot(STRANGER, 'node-2', 'precious')
        self.boot(STRANGER, 'node-1', 'own')
        self.assertRaises(errors.HostHavingServers, self.registrar.delete_resource, number)
        for server in self.cloud.servers():
            if server.name == 'own':
                self.cloud.compute.delete_server(server.id)
        self.registrar.delete_resource(number)
        self.assertEqual((), self.pooled())

    def test_the_pool_keeps_what_another_host_uses(self) -> None:
        first = self.register()
        self.share()
        known = fetch(self.site.store, lambda tx: tx.resources.get('physical:host', first))
        twin = self.site.store.run(
            lambda tx: tx.resources.insert(dataclasses.replace(known, id=None, name='node-2'))
        )
        self.registrar.delete_resource(first)
        self.assertEqual(('ironic',), self.pooled())
        self.registrar.delete_resource(twin)
        self.assertEqual((), self.pooled())


class TestRenamedHosts(NodesCase):
    """A hypervisor that Nova calls by another name than at its registration."""

    def rename(self) -> None:
        """Let Nova use another name for the hypervisor."""
        self.cloud.rename_hypervisor('node-1', 'node-1.example.org')

    def test_registration_names_the_registered_host(self) -> None:
        self.register()
        self.rename()
        error = self.assertRaises(errors.HostRenamed, self.register, 'node-1.example.org')
        self.assertIn("registered as host 'node-1'", error.message)
        self.assertIn('resource set --rename node-1.example.org node-1', error.message)
        self.assertEqual(('ironic',), self.pooled())

    def test_a_lease_does_not_start(self) -> None:
        self.register()
        lease = self.site.create(60, 3600)
        self.rename()
        self.boot(STRANGER, 'node-1.example.org', 'unknown')
        self.assertEqual('ERROR', self.site.status_at(600, lease))
        self.assertIn('serves other nodes', self.error(lease))
        self.assertEqual({'unknown'}, self.servers())

    def test_servers_from_before_the_rename_are_on_the_host(self) -> None:
        # Nova keeps the old name of the node in servers that exist already.
        self.boot(STRANGER, 'node-1', 'older')
        self.rename()
        self.assertRaises(errors.HostHavingServers, self.register, 'node-1.example.org')


class TestZones(NodesCase):
    """Aggregates of operators that define an availability zone."""

    def zone(self, *hosts: str) -> None:
        """Put service hosts into a zone."""
        made = self.cloud.compute.create_aggregate('az1-agg', 'az1')
        for host in hosts:
            self.cloud.compute.add_host(made.id, host)

    def test_registration_is_refused(self) -> None:
        self.zone('ironic')
        error = self.assertRaises(errors.HostInZone, self.register)
        self.assertIn('aggregate az1-agg puts it into availability zone az1', error.message)
        self.assertEqual((), self.pooled())

    def test_the_zone_of_another_host_does_not_matter(self) -> None:
        self.zone('compute-1')
        self.register()
        self.assertEqual(('ironic',), self.pooled())

    def test_the_pool_defines_a_zone(self) -> None:
        (pool,) = (item for item in self.cloud.aggregates() if item.name == 'freepool')
        self.cloud.compute.delete_aggregate(pool.id)
        self.cloud.compute.create_aggregate('freepool', 'reserved')
        error = self.assertRaises(errors.HostInZone, self.register)
        self.assertIsInstance(error, exceptions.Conflict)
        self.assertIn('availability zone reserved', error.message)
