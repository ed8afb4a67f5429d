# SPDX-License-Identifier: Apache-2.0

"""What reservation was thought of for in 2014, case by case, on a real cloud.

The cases are those of the project's first wiki page. Days have become
seconds; nothing else stands in for anything.
"""

from __future__ import annotations

import json
from typing import Any

import openstack

from tests.cloud.base import CloudTest
from tests.cloud.base import reservation
from tests.cloud.house import PREFIX
from tests.cloud.people import Person
from tests.cloud.people import within
from tests.cloud.settings import configure
from tests.cloud.waiting import until
from tools.cloud import services

PATIENCE = 120.0
MANAGER = '[virtual:server]\nleases_by_booting = true\n'
# Compute and storage are waited for longer than hosts are, that are just handed over.
TOMORROW = 35.0
FIVE_DAYS = 600.0
TEMPLATE = """
heat_template_version: 2021-04-16
parameters:
  image: {type: string}
  flavor: {type: string}
resources:
  net:
    type: OS::Neutron::Net
  subnet:
    type: OS::Neutron::Subnet
    properties: {network: {get_resource: net}, cidr: 10.77.0.0/24}
  disk:
    type: OS::Cinder::Volume
    properties: {size: 1}
  database:
    type: OS::Nova::Server
    depends_on: subnet
    properties:
      image: {get_param: image}
      flavor: {get_param: flavor}
      networks: [{network: {get_resource: net}}]
      user_data_format: RAW
  web:
    type: OS::Nova::Server
    depends_on: subnet
    properties:
      image: {get_param: image}
      flavor: {get_param: flavor}
      networks: [{network: {get_resource: net}}]
      user_data_format: RAW
"""


class UseCase(CloudTest):
    """What the four cases need of the cloud."""

    hosts = 2

    def flavor(self) -> str:
        """Return the id of the smallest flavor."""
        return str(self.alice.sdk.compute.find_flavor(self.cloud.flavor).id)

    def image(self) -> str:
        """Return the id of the image."""
        return str(self.alice.sdk.image.find_image(self.cloud.image).id)

    def plan(self, start: float, seconds: float, *reservations: dict[str, Any]) -> dict[str, Any]:
        """Return the body of a lease."""
        return self.lease_body(start, seconds) | {'reservations': list(reservations)}

    def only_lease(self, person: Person, name: str) -> dict[str, Any] | None:
        """Return the lease of a name; None if there is none yet."""
        return next((each for each in person.leases() if each['name'] == name), None)


class TestServer(UseCase):
    """A working server for five days from tomorrow, kept as an image and then deleted."""

    site = 1  # see BootingTest

    def setUp(self) -> None:
        super().setUp()
        managers = services.managers(self.cloud)
        self.addCleanup(configure, self.cloud, dict.fromkeys(managers, ''))
        configure(self.cloud, dict.fromkeys(managers, MANAGER))

    def test_a_server_for_five_days_from_tomorrow(self) -> None:
        name = f'{PREFIX}five-days'
        begins, ends = within(TOMORROW), within(TOMORROW + FIVE_DAYS)
        hint = {'name': name, 'start': begins.isoformat(), 'end': ends.isoformat()}
        server = self.alice.boot(name, lease_params=json.dumps(hint))
        lease = until(lambda: self.only_lease(self.alice, name), PATIENCE, 'the lease is there')
        until(lambda: self.alice.status(server) == 'SHELVED_OFFLOADED', PATIENCE, 'it makes room')
        self.await_status(self.alice, lease, 'ACTIVE', PATIENCE)
        self.assertEqual('ACTIVE', self.alice.status(server))
        # Its room was booked on a host that nobody else can use.
        self.assertIn(self.host_of(server), self.lent)
        self.end_now(self.alice, lease)
        self.await_status(self.alice, lease, 'TERMINATED', PATIENCE)
        self.assertEqual('GONE', self.alice.status(server))
        kept = [
            each
            for each in self.alice.sdk.image.images(owner=self.alice.project_id)
            if each.name.endswith(name)
        ]
        self.assertEqual(['active'], [each.status for each in kept])
        self.assertEqual(list(self.lent), self.members(self.cloud.freepool))


class TestHosts(UseCase):
    """Whole hosts for high performance computing: nobody else is on them."""

    def test_hosts_for_a_computation(self) -> None:
        lease = self.book(self.alice, 8, hosts=2)
        lease = self.await_active(self.alice, lease)
        mine = [self.boot(self.alice, lease) for _ in range(2)]
        others = self.boot(self.bob, lease)
        self.assertEqual(['ACTIVE', 'ACTIVE'], [self.alice.settled(each) for each in mine])
        self.assertEqual('ERROR', self.bob.settled(others))
        self.assertLessEqual({self.host_of(each) for each in mine}, set(self.lent))
        self.await_terminated(self.alice, self.end_now(self.alice, lease))
        self.assert_free(self.lent, lease)


class TestVolume(UseCase):
    """A volume that the reserved server uses, for as long as there is a server."""

    def test_a_volume_for_a_reserved_server(self) -> None:
        volume = {'resource_type': 'virtual:volume', 'name': f'{PREFIX}data', 'size': 1}
        volume |= {'amount': 1, 'guarantee': False, 'on_end': ['detach', 'delete']}
        server = {'resource_type': 'virtual:server', 'name': f'{PREFIX}user-of-data'}
        server |= {'image': self.image(), 'flavor': self.flavor(), 'on_end': ['snapshot', 'delete']}
        lease = self.alice.create_lease(self.plan(8, 600, volume, server))
        lease = self.await_status(self.alice, lease, 'ACTIVE', PATIENCE)
        (disk,) = self.mine(self.alice.sdk.block_storage.volumes())
        (machine,) = self.mine(self.alice.sdk.compute.servers())
        self.alice.sdk.compute.create_volume_attachment(machine, volume_id=disk.id)
        until(lambda: self.attached(disk.id), PATIENCE, 'the server uses the volume')
        self.end_now(self.alice, lease)
        self.await_status(self.alice, lease, 'TERMINATED', PATIENCE)
        self.assertEqual('GONE', self.alice.status(machine.id))
        self.assertEqual([], self.mine(self.alice.sdk.block_storage.volumes()))

    def mine(self, found: Any) -> list[Any]:
        """Return those that the lease has made."""
        return [each for each in found if each.name.startswith(PREFIX)]

    def attached(self, volume_id: str) -> bool:
        """Whether a volume is in use."""
        return str(self.alice.sdk.block_storage.get_volume(volume_id).status) == 'in-use'


class TestStack(UseCase):
    """A group of servers that works already when its owner arrives."""

    def test_a_stack_that_is_already_working(self) -> None:
        stack = {
            'resource_type': 'virtual:stack',
            'name': f'{PREFIX}group',
            'template': TEMPLATE,
            'parameters': {'image': self.image(), 'flavor': self.flavor()},
            'on_end': ['delete'],
        }
        lease = self.alice.create_lease(self.plan(8, 600, stack))
        rooms = [
            each for each in lease['reservations'] if each['resource_type'] == 'flavor:instance'
        ]
        self.assertEqual([2], [each['amount'] for each in rooms])
        lease = self.await_status(self.alice, lease, 'ACTIVE', PATIENCE)
        found = self.alice.sdk.orchestration.find_stack(f'{PREFIX}group', resolve_outputs=False)
        self.assertEqual('CREATE_COMPLETE', found.status)
        machines = list(self.alice.sdk.compute.servers())
        self.assertEqual(({'ACTIVE'}, 2), ({each.status for each in machines}, len(machines)))
        # What was booked for them is what they use.
        self.assertLessEqual({self.host_of(each.id) for each in machines}, set(self.lent))
        self.end_now(self.alice, lease)
        self.await_status(self.alice, lease, 'TERMINATED', PATIENCE)
        with self.assertRaises(openstack.exceptions.NotFoundException):
            self.alice.sdk.orchestration.get_stack(found.id)
        self.assertIsNone(self.aggregate(reservation(lease)))
