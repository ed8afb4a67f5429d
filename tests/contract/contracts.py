# SPDX-License-Identifier: Apache-2.0

"""What every client of Nova is held to: the docstrings of base, as tests."""

from __future__ import annotations

import json
import uuid
from typing import Any

from climate import exceptions
from climate.cloud import base
from tests.base import TestCase
from tests.contract import backends
from tests.narrowing import present
from tests.threads import together

NOBODY = str(uuid.UUID(int=0))
NO_AGGREGATE = 2147483000


class Contract(TestCase):
    """Opens a backend for each test; subclasses set which one."""

    backend_type: Any = None

    def setUp(self) -> None:
        super().setUp()
        if self.backend_type is None:
            self.fail('a contract needs a backend')
        self.backend: backends.Backend = self.backend_type()
        self.addCleanup(self.backend.close)
        self.compute = self.backend.cloud.compute
        self.placement = self.backend.cloud.placement

    def aggregate(self, zone: str | None = None, *hosts: str) -> base.Aggregate:
        """Make an aggregate that goes away after the test."""
        made = self.compute.create_aggregate(backends.unique(), zone)
        self.addCleanup(self.clean, made)
        for host in hosts:
            self.compute.add_host(made.id, host)
        return made

    def clean(self, aggregate: base.Aggregate) -> None:
        """Remove an aggregate, whatever is in it."""
        found = self.compute.find_aggregate(aggregate.name)
        if found is not None:
            for host in found.hosts:
                self.gone(*(server.id for server in self.compute.list_servers(host)))
                self.compute.remove_host(found.id, host)
            self.compute.delete_aggregate(found.id)

    def boot(self, host: str, name: str = 'vm') -> str:
        """Start a server that goes away after the test, and return its id."""
        server_id = self.backend.boot(host, name)
        self.addCleanup(self.gone, server_id)
        return server_id

    def gone(self, *server_ids: str) -> None:
        """Delete servers and wait until they are gone."""
        for server_id in server_ids:
            self.compute.delete_server(server_id)
        self.backend.until_gone(*server_ids)

    def find(self, aggregate: base.Aggregate) -> base.Aggregate:
        """Return an aggregate as it is now."""
        return present(self.compute.find_aggregate(aggregate.name))

    def lost(self, verb: str, call: Any, *arguments: Any) -> None:
        """Call a verb whose answer gets lost after the work was done."""
        self.backend.lose_answer(verb)
        self.assertRaises(exceptions.Transient, call, *arguments)


def held(module: str, cloud: str, backend_type: Any, *contracts: type[Contract]) -> dict[str, type]:
    """Return a class of tests for each contract that is held against a cloud.

    :param module: the one that the classes are in
    :param cloud: the cloud in their names: ``TestHTTPServer`` tests ``ServerContract``
    """
    facts = {'__module__': module, 'backend_type': backend_type}
    names = {f'Test{cloud}{each.__name__.removesuffix("Contract")}': each for each in contracts}
    return {name: type(name, (each,), facts) for name, each in names.items()}


class HypervisorContract(Contract):
    """list_hypervisors, find_hypervisor."""

    def test_all_are_listed_once_by_hostname(self) -> None:
        names = [found.hostname for found in self.compute.list_hypervisors()]
        self.assertGreaterEqual(len(names), 2)
        self.assertEqual(sorted(set(names)), names)

    def test_values_are_what_they_should_be(self) -> None:
        for found in self.compute.list_hypervisors():
            self.assertRegex(found.id, backends.UUID)
            self.assertIsInstance(json.loads(found.cpu_info), dict)
            self.assertIn(found.state, ('up', 'down'))
            self.assertIn(found.status, ('enabled', 'disabled'))
            for number in (found.vcpus, found.memory_mb, found.local_gb, found.hypervisor_version):
                self.assertIsInstance(number, int)
            self.assertTrue(found.service_host)
            self.assertTrue(found.availability_zone)

    def test_is_found_by_hostname_and_by_id(self) -> None:
        for listed in self.compute.list_hypervisors():
            self.assertEqual(listed, self.compute.find_hypervisor(listed.hostname))
            self.assertEqual(listed, self.compute.find_hypervisor(listed.id))

    def test_is_not_found_by_a_part_of_its_name(self) -> None:
        name = self.compute.list_hypervisors()[0].hostname
        self.assertIsNone(self.compute.find_hypervisor(name[:-1]))
        self.assertIsNone(self.compute.find_hypervisor(f'{name}x'))

    def test_what_is_not_there_is_none(self) -> None:
        for nobody in ('nobody', NOBODY, '0', 'a/b?c=d', 'ä%'):
            self.assertIsNone(self.compute.find_hypervisor(nobody))

    def test_its_zone_is_that_of_its_aggregate(self) -> None:
        hypervisor = self.compute.list_hypervisors()[0]
        zone = backends.unique('zone')
        self.aggregate(zone, hypervisor.service_host)
        found = present(self.compute.find_hypervisor(hypervisor.hostname))
        self.assertEqual(zone, found.availability_zone)
        zones = {item.hostname: item.availability_zone for item in self.compute.list_hypervisors()}
        self.assertEqual(zone, zones[hypervisor.hostname])


class AggregateContract(Contract):
    """list_aggregates and all that follows it."""

    def test_made_found_and_listed(self) -> None:
        for zone in (None, backends.unique('zone')):
            made = self.aggregate(zone)
            self.assertEqual((zone, (), {}), (made.availability_zone, made.hosts, made.metadata))
            self.assertEqual(made, self.compute.find_aggregate(made.name))
            self.assertIn(made, self.compute.list_aggregates())
        ids = [found.id for found in self.compute.list_aggregates()]
        self.assertEqual(sorted(ids), ids)

    def test_what_is_not_there_is_none(self) -> None:
        self.assertIsNone(self.compute.find_aggregate(backends.unique()))

    def test_names_are_unique(self) -> None:
        made = self.aggregate()
        self.assertRaises(base.CloudConflict, self.compute.create_aggregate, made.name, None)

    def test_made_although_the_answer_was_lost(self) -> None:
        name = backends.unique()
        self.lost('compute.create_aggregate', self.compute.create_aggregate, name, None)
        self.assertRaises(base.CloudConflict, self.compute.create_aggregate, name, None)
        self.compute.delete_aggregate(present(self.compute.find_aggregate(name)).id)

    def test_metadata_is_set_kept_and_removed(self) -> None:
        made = self.aggregate(backends.unique('zone'))
        change = self.compute.set_aggregate_metadata
        change(made.id, {'blazar:owner': 'p1', 'a': '1'})
        change(made.id, {'a': '2', 'missing': None})
        self.assertEqual({'blazar:owner': 'p1', 'a': '2'}, self.find(made).metadata)
        change(made.id, {'a': None})
        change(made.id, {'a': None})
        change(made.id, {})
        self.assertEqual({'blazar:owner': 'p1'}, self.find(made).metadata)
        self.assertEqual(made.availability_zone, self.find(made).availability_zone)

    def test_metadata_of_what_is_not_there(self) -> None:
        with self.assertRaises(base.CloudNotFound):
            self.compute.set_aggregate_metadata(NO_AGGREGATE, {'a': '1'})

    def test_the_zone_is_not_metadata(self) -> None:
        made = self.aggregate()
        with self.assertRaises(exceptions.Permanent):
            self.compute.set_aggregate_metadata(made.id, {'availability_zone': 'x'})
        self.assertIsNone(self.find(made).availability_zone)

    def test_metadata_set_although_the_answer_was_lost(self) -> None:
        made = self.aggregate()
        verb = self.compute.set_aggregate_metadata
        self.lost('compute.set_aggregate_metadata', verb, made.id, {'a': '1'})
        verb(made.id, {'a': '1'})
        self.assertEqual({'a': '1'}, self.find(made).metadata)

    def test_hosts_are_added_and_removed_and_again(self) -> None:
        one, two = self.backend.hosts[:2]
        made = self.aggregate()
        for _ in range(2):
            self.compute.add_host(made.id, two)
            self.compute.add_host(made.id, one)
            self.assertEqual(tuple(sorted((one, two))), self.find(made).hosts)
        for _ in range(2):
            self.compute.remove_host(made.id, two)
            self.assertEqual((one,), self.find(made).hosts)
        self.compute.remove_host(made.id, 'nobody')

    def test_no_host_that_is_not_there(self) -> None:
        self.assertRaises(base.CloudNotFound, self.compute.add_host, self.aggregate().id, 'nobody')

    def test_nothing_is_put_into_what_is_not_there(self) -> None:
        host = self.backend.hosts[0]
        self.assertRaises(base.CloudNotFound, self.compute.add_host, NO_AGGREGATE, host)
        self.assertRaises(base.CloudNotFound, self.compute.remove_host, NO_AGGREGATE, host)

    def test_added_and_removed_although_the_answer_was_lost(self) -> None:
        host = self.backend.hosts[0]
        made = self.aggregate()
        self.lost('compute.add_host', self.compute.add_host, made.id, host)
        self.assertEqual((host,), self.find(made).hosts)
        self.compute.add_host(made.id, host)
        self.lost('compute.remove_host', self.compute.remove_host, made.id, host)
        self.assertEqual((), self.find(made).hosts)
        self.compute.remove_host(made.id, host)

    def test_a_host_is_in_one_zone_only(self) -> None:
        host = self.backend.hosts[0]
        zone = backends.unique('zone')
        first = self.aggregate(zone, host)
        other = self.aggregate(backends.unique('zone'))
        self.assertRaises(base.CloudConflict, self.compute.add_host, other.id, host)
        self.assertEqual((), self.find(other).hosts)
        self.aggregate(zone, host)
        self.aggregate(None, host)
        self.assertEqual((host,), self.find(first).hosts)

    def test_a_host_changes_its_zone_once_it_is_out_of_the_other(self) -> None:
        host = self.backend.hosts[0]
        first = self.aggregate(backends.unique('zone'), host)
        other = self.aggregate(backends.unique('zone'))
        self.compute.remove_host(first.id, host)
        self.compute.add_host(other.id, host)
        self.assertEqual((host,), self.find(other).hosts)

    def test_servers_do_not_change_their_zone(self) -> None:
        host = self.backend.hosts[0]
        zoned = self.aggregate(backends.unique('zone'))
        server_id = self.boot(host)
        self.assertRaises(base.CloudConflict, self.compute.add_host, zoned.id, host)
        self.aggregate(None, host)
        self.gone(server_id)
        self.compute.add_host(zoned.id, host)
        self.boot(host)
        self.assertRaises(base.CloudConflict, self.compute.remove_host, zoned.id, host)
        self.aggregate(zoned.availability_zone, host)
        self.compute.remove_host(zoned.id, host)

    def test_deleted_and_again(self) -> None:
        made = self.aggregate()
        self.compute.set_aggregate_metadata(made.id, {'a': '1'})
        self.compute.delete_aggregate(made.id)
        self.assertIsNone(self.compute.find_aggregate(made.name))
        self.compute.delete_aggregate(made.id)
        self.compute.delete_aggregate(NO_AGGREGATE)

    def test_not_deleted_while_it_has_hosts(self) -> None:
        made = self.aggregate(None, self.backend.hosts[0])
        self.assertRaises(base.CloudConflict, self.compute.delete_aggregate, made.id)
        self.assertIsNotNone(self.compute.find_aggregate(made.name))

    def test_deleted_although_the_answer_was_lost(self) -> None:
        made = self.aggregate()
        self.lost('compute.delete_aggregate', self.compute.delete_aggregate, made.id)
        self.assertIsNone(self.compute.find_aggregate(made.name))
        self.compute.delete_aggregate(made.id)

    def test_many_threads_at_once(self) -> None:
        made = self.aggregate()
        hosts = self.backend.hosts[:2]

        def move(host: str) -> None:
            for _ in range(4):
                self.compute.add_host(made.id, host)
                self.compute.remove_host(made.id, host)
            self.compute.add_host(made.id, host)

        together(move, hosts)
        self.assertEqual(tuple(sorted(hosts)), self.find(made).hosts)


class AggregateLimitsContract(Contract):
    """What names and metadata may be, and what Placement gets of them."""

    def test_names_that_differ_by_case_only_are_one_name_or_two(self) -> None:
        made = self.aggregate()
        self.assertIsNone(self.compute.find_aggregate(made.name.upper()))
        try:
            other = self.compute.create_aggregate(made.name.upper(), None)
        except base.CloudConflict:
            return
        self.compute.delete_aggregate(other.id)

    def test_names_that_can_be_and_that_cannot(self) -> None:
        for name in (backends.unique('ünï 日本 a/b'), backends.unique().ljust(255, 'x')):
            made = self.compute.create_aggregate(name, None)
            self.addCleanup(self.clean, made)
            self.assertEqual(made, self.compute.find_aggregate(name))
        for name in ('', ' x', 'x ', 'x\ty', '\N{GRINNING FACE}', 'x' * 256):
            self.assertRaises(exceptions.Permanent, self.compute.create_aggregate, name, None)
        for zone in ('', 'a:b', 'x' * 256):
            create = self.compute.create_aggregate
            self.assertRaises(exceptions.Permanent, create, backends.unique(), zone)

    def test_metadata_that_can_be_and_that_cannot(self) -> None:
        made = self.aggregate()
        good = {'k' * 255: '1', 'a b:c-d_e.f': '', 'v': 'ü日' * 127}
        self.compute.set_aggregate_metadata(made.id, good)
        self.assertEqual(good, self.find(made).metadata)
        for key, value in (('', '1'), ('k' * 256, '1'), ('ü', '1'), ('a/b', '1'), ('a', 'v' * 256)):
            change = self.compute.set_aggregate_metadata
            self.assertRaises(exceptions.Permanent, change, made.id, {key: value})
        self.assertEqual(good, self.find(made).metadata)
