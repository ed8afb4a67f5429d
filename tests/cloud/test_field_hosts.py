# SPDX-License-Identifier: Apache-2.0

"""``openstack reservation host``, as an administrator uses it and others do not."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.cloud.field import at_once
from tests.cloud.field import FieldTest


class TestHosts(FieldTest):
    """Each command with a real host of Nova."""

    hosts = 0

    def setUp(self) -> None:
        super().setUp()
        self.host = self.cloud.site_hosts[-1]
        self.hers = self.reservations('admin')
        self.publish()
        self.addCleanup(self.publish)

    def publish(self) -> None:
        """Let everybody see a property; that it is private outlives the hosts that have it."""
        path = '/os-hosts/properties/rack'
        answer = self.admin.call('PATCH', path, {'private': False}, version='1.0')
        self.assertIn(answer.status_code, (200, 404), answer.text)

    def test_life_of_a_host(self) -> None:
        created = self.hers.json(
            'host', 'create', self.host, '--extra', 'gpu=True', '--extra', 'rack=r1'
        )
        found = {key: created[key] for key in ('hypervisor_hostname', 'gpu', 'rack')}
        self.assertEqual({'hypervisor_hostname': self.host, 'gpu': 'True', 'rack': 'r1'}, found)
        self.assertIn(self.host, self.members(self.cloud.freepool))
        self.look(created)
        self.change(created)
        self.refusals(created)
        self.hers.run('host', 'delete', self.host)
        self.assertNotIn(self.host, self.members(self.cloud.freepool))
        self.assertIn('not found', self.hers.refusal('host', 'show', created['id']))

    def look(self, created: dict[str, Any]) -> None:
        hypervisor = self.admin.sdk.compute.find_hypervisor(self.host, details=True)
        listed, by_name, detailed, mine = at_once(
            partial(self.hers.json, 'host', 'list', '--sort-by', 'id'),
            partial(self.hers.json, 'host', 'show', self.host),
            partial(self.hers.json, 'host', 'property', 'list', '--detail'),
            partial(self.reservations('alice').json, 'host', 'show', created['id']),
        )
        self.assertEqual([self.host], [each['hypervisor_hostname'] for each in listed])
        self.assertEqual(
            {'id', 'hypervisor_hostname', 'vcpus', 'memory_mb', 'local_gb'}, set(listed[0])
        )
        self.assertEqual(created, by_name)
        self.assertEqual(created, mine)
        self.assertEqual('fake', created['hypervisor_type'])
        self.assertEqual(hypervisor.service_details['host'], created['service_name'])
        self.assertEqual(
            {'gpu': '["True"]', 'rack': '["r1"]'},
            {each['property']: str(each['property_values']).replace("'", '"') for each in detailed},
        )

    def change(self, created: dict[str, Any]) -> None:
        self.hers.run('host', 'set', self.host, '--extra', 'gpu=False', '--extra', 'ssd=yes')
        self.hers.run('host', 'property', 'set', 'rack', '--private')
        changed, hers, his = at_once(
            partial(self.hers.json, 'host', 'show', created['id']),
            partial(self.hers.json, 'host', 'property', 'list', '--all'),
            partial(self.reservations('bob').json, 'host', 'property', 'list'),
        )
        self.assertEqual(('False', 'yes'), (changed['gpu'], changed['ssd']))
        self.assertEqual({'gpu', 'rack', 'ssd'}, {each['property'] for each in hers})
        self.assertEqual({'gpu', 'ssd'}, {each['property'] for each in his})

    def refusals(self, created: dict[str, Any]) -> None:
        alice = self.reservations('alice')
        again, unknown, forbidden, untouched, nowhere = at_once(
            partial(self.hers.refusal, 'host', 'create', self.host),
            partial(self.hers.refusal, 'host', 'create', 'no-such-host'),
            partial(alice.refusal, 'host', 'create', self.cloud.site_hosts[-2]),
            partial(alice.refusal, 'host', 'delete', created['id']),
            partial(self.hers.refusal, 'host', 'show', '99999'),
        )
        self.assertEqual(f"ERROR: Host '{self.host}' is registered already", again)
        self.assertEqual("ERROR: Host 'no-such-host' not found", unknown)
        self.assertEqual(
            "ERROR: Policy doesn't allow climate:hosts:create to be performed", forbidden
        )
        self.assertEqual(
            "ERROR: Policy doesn't allow climate:hosts:delete to be performed", untouched
        )
        self.assertEqual("ERROR: Object with {'host_id': '99999'} not found", nowhere)
