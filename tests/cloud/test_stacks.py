# SPDX-License-Identifier: Apache-2.0

"""Leases of stacks, made and held by a real Heat."""

from __future__ import annotations

from typing import Any

from tests.cloud.base import CloudTest
from tests.cloud.house import PREFIX
from tests.cloud.people import Person
from tests.cloud.waiting import until

PATIENCE = 150.0
TYPE = 'virtual:stack'
ONE = """heat_template_version: 2021-04-16
parameters:
  image: {type: string}
  flavor: {type: string}
resources:
  server:
    type: OS::Nova::Server
    properties:
      image: {get_param: image}
      flavor: {get_param: flavor}
      networks: [{allocate_network: none}]
      user_data_format: RAW
"""
BROKEN = f"""{ONE}
  bad: {{type: OS::Heat::TestResource, properties: {{fail: true}}}}
"""
GROUP = """heat_template_version: 2021-04-16
parameters:
  image: {type: string}
  flavor: {type: string}
resources:
  desks:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: 1
      max_size: 2
      desired_capacity: 1
      resource:
        type: desk.yaml
        properties: {image: {get_param: image}, flavor: {get_param: flavor}}
  word: {type: OS::Heat::RandomString}
"""


class StacksTest(CloudTest):
    """Two hosts are registered, on which the servers of stacks are to be."""

    hosts = 2

    def setUp(self) -> None:
        super().setUp()
        self.heat = self.alice.sdk.orchestration
        self.named = f'{PREFIX}{self._testMethodName}'
        self.addCleanup(self.forget)

    def forget(self) -> None:
        """Let no stack of the test be left."""
        self.heat.delete_stack(self.named, ignore_missing=True)
        until(lambda: self.state() == '', PATIENCE, 'the stack of the test is gone')

    def state(self) -> str:
        """Return what became of the stack; '' if there is none."""
        found = self.heat.find_stack(self.named, ignore_missing=True)
        return '' if found is None else str(found.status)

    def parameters(self) -> dict[str, str]:
        """Return what the templates ask for."""
        return {'image': self.cloud.image, 'flavor': self.cloud.flavor}

    def stack(self, **more: Any) -> dict[str, Any]:
        """Return a request for a stack that is to be made."""
        return {'resource_type': TYPE, 'name': self.named, **more}

    def lease(self, start: float, wanted: dict[str, Any], seconds: float = 3600) -> dict[str, Any]:
        """Book a stack."""
        body = self.lease_body(start, seconds) | {'reservations': [wanted]}
        return self.alice.create_lease(body)

    def servers(self) -> list[Any]:
        """Return the servers of alice's, as an administrator sees them."""
        project = self.alice.project_id
        found = self.admin.sdk.compute.servers(all_projects=True, project_id=project)
        return [each for each in found if each.id not in self.house.before.servers]

    def room(self, lease: dict[str, Any]) -> dict[str, Any]:
        """Return the reservation of the room of a stack, which is a part of it."""
        room, whole = lease['reservations']
        self.assertEqual(('flavor:instance', TYPE), (room['resource_type'], whole['resource_type']))
        return dict(room)

    def end(self, person: Person, lease: dict[str, Any]) -> None:
        """Delete a lease and wait until it is gone."""
        person.delete_lease(lease['id'])
        self.await_gone(person, lease, PATIENCE)

    def test_it_works_when_its_owner_arrives(self) -> None:
        wanted = self.stack(template=GROUP, files={'desk.yaml': ONE}, parameters=self.parameters())
        lease = self.lease(15, wanted)
        room = self.room(lease)
        self.assertEqual(2, room['amount'])
        self.await_status(self.alice, lease, 'ACTIVE', PATIENCE)
        self.assertEqual('CREATE_COMPLETE', self.state())
        (server,) = self.servers()
        self.assertEqual('ACTIVE', server.status)
        self.assertIn(server.hypervisor_hostname or server.compute_host, self.lent)
        self.assertIn(room['id'], str(server.flavor))
        self.end(self.alice, lease)
        self.assertEqual(('', []), (self.state(), self.servers()))
        self.assertIsNone(self.admin.sdk.compute.find_flavor(room['id']))

    def test_what_heat_does_not_take_is_refused_at_once(self) -> None:
        wanted = self.stack(template='heat_template_version: 2021-04-16\nresources: {a: {type: X}}')
        body = self.lease_body(60) | {'reservations': [wanted]}
        response = self.alice.call('POST', '/leases', body)
        self.assertEqual(400, response.status_code, response.text)
        self.assertIn('X', response.json()['error_message'])

    def test_what_heat_fails_to_make_is_reported_and_leaves_nothing(self) -> None:
        lease = self.lease(5, self.stack(template=BROKEN, parameters=self.parameters()))
        notification = self.bus.wait_for(lease['id'], 'lease.event.error', PATIENCE)['payload']
        self.assertIn('resources.bad', notification['reason'])
        self.await_status(self.alice, lease, 'ERROR', PATIENCE)
        until(lambda: (self.state(), self.servers()) == ('', []), PATIENCE, 'nothing is left')
        history = self.alice.call('GET', f'/leases/{lease["id"]}/history', version='1.3')
        self.assertIn('resources.bad', history.text)
        self.end(self.alice, lease)
        room = self.room(lease)
        self.assertIsNone(self.admin.sdk.compute.find_flavor(room['id']))

    def test_one_that_exists_sleeps_until_its_time_and_is_kept(self) -> None:
        stack_id = self.made()
        lease = self.lease(40, {'resource_type': TYPE, 'stack_id': stack_id}, 15)
        until(lambda: self.done() == 'SUSPEND_COMPLETE', PATIENCE, 'it sleeps')
        other = self.alice.call(
            'POST',
            '/leases',
            self.lease_body(30, 60)
            | {'reservations': [{'resource_type': TYPE, 'stack_id': stack_id}]},
        )
        self.assertEqual(409, other.status_code, other.text)
        self.await_status(self.alice, lease, 'ACTIVE', PATIENCE)
        self.assertEqual('RESUME_COMPLETE', self.done())
        self.await_status(self.alice, lease, 'TERMINATED', PATIENCE)
        self.assertEqual('SUSPEND_COMPLETE', self.done())
        kept = self.heat.get(f'/stacks/{self.named}/{stack_id}/snapshots').json()['snapshots']
        self.assertEqual(['COMPLETE'], [each['status'] for each in kept])

    def made(self) -> str:
        """Have alice make a stack; return its id."""
        found = self.heat.create_stack(
            name=self.named, template=ONE, parameters=self.parameters(), timeout_mins=5
        )
        until(lambda: self.done() == 'CREATE_COMPLETE', PATIENCE, 'the stack is there')
        return str(found.id)

    def done(self) -> str:
        """Return what was done with the stack last, and how far that is."""
        return str(self.heat.get_stack(self.named).status)
