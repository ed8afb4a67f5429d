# SPDX-License-Identifier: Apache-2.0

"""Leases of stacks whose floating IPs are booked with them, made by a real Heat."""

from __future__ import annotations

from typing import Any

from climate.plugins.floating_ip.plugin import FloatingIP
from tests.cloud.house import PREFIX
from tests.cloud.neutron import NeutronTest
from tests.cloud.waiting import until

PATIENCE = 150.0
ADDRESSES = ('198.51.100.101', '198.51.100.102')
TEMPLATE = """heat_template_version: 2021-04-16
parameters:
  outside: {type: string}
resources:
  inner: {type: OS::Neutron::Net}
  subnet:
    type: OS::Neutron::Subnet
    properties: {network: {get_resource: inner}, cidr: 10.11.0.0/24, enable_dhcp: false}
  router:
    type: OS::Neutron::Router
    properties: {external_gateway_info: {network: {get_param: outside}}}
  gate:
    type: OS::Neutron::RouterInterface
    properties: {router: {get_resource: router}, subnet: {get_resource: subnet}}
  port:
    type: OS::Neutron::Port
    properties: {network: {get_resource: inner}, fixed_ips: [{subnet: {get_resource: subnet}}]}
  door:
    type: OS::Neutron::FloatingIP
    depends_on: gate
    properties: {floating_network: {get_param: outside}, port_id: {get_resource: port}}
  more: {type: spare.yaml, properties: {outside: {get_param: outside}}}
outputs:
  address: {value: {get_attr: [door, floating_ip_address]}}
"""
SPARE = """heat_template_version: 2021-04-16
parameters:
  outside: {type: string}
resources:
  spare:
    type: OS::Neutron::FloatingIP
    properties: {floating_network: {get_param: outside}}
"""


class StackAddressesTest(NeutronTest):
    """Two addresses are registered."""

    def setUp(self) -> None:
        super().setUp()
        for address in ADDRESSES:
            self.registry.register(
                FloatingIP(), floating_network_id=self.external, floating_ip_address=address
            )
        self.heat = self.alice.sdk.orchestration
        self.named = f'{PREFIX}addresses'
        self.addCleanup(self.forget)

    def forget(self) -> None:
        """Let no stack of the test be left."""
        self.heat.delete_stack(self.named, ignore_missing=True)
        until(
            lambda: self.heat.find_stack(self.named, ignore_missing=True) is None,
            PATIENCE,
            'the stack of the test is gone',
        )

    def wanted(self, **more: Any) -> dict[str, Any]:
        """Return a request for a stack with two floating IPs, one of them nested."""
        outside = self.admin.sdk.network.get_network(self.external).name
        draft = {'name': self.named, 'template': TEMPLATE, 'files': {'spare.yaml': SPARE}}
        draft['parameters'] = {'outside': outside}
        return {'resource_type': 'virtual:stack', **draft, **more}

    def taken(self) -> dict[str, Any]:
        """Return the floating IPs of Alice's, by address."""
        return {
            item.floating_ip_address: item
            for item in self.neutron.ips(floating_network_id=self.external)
        }

    def test_a_stack_has_the_addresses_that_were_booked_for_it(self) -> None:
        lease = self.book(self.alice, 15, reservations=[self.wanted()])
        part, whole = lease['reservations']
        self.assertEqual(
            ('virtual:floatingip', 2, 'virtual:stack'),
            (part['resource_type'], part['amount'], whole['resource_type']),
        )
        self.assertEqual({}, self.taken())
        other = self.alice.call(
            'POST',
            '/leases',
            self.lease_body(20) | {'reservations': [self.wanted(name=f'{PREFIX}other')]},
        )
        self.assertEqual(409, other.status_code, other.text)

        self.await_status(self.alice, lease, 'ACTIVE', PATIENCE)
        found = self.taken()
        self.assertEqual(set(ADDRESSES), set(found))
        stack = self.heat.get_stack(self.named)
        self.assertEqual('CREATE_COMPLETE', stack.status)
        (output,) = stack.outputs
        door = found[output['output_value']]
        self.assertEqual('10.11.0', str(door.fixed_ip_address).rpartition('.')[0])

        self.alice.delete_lease(lease['id'])
        self.await_gone(self.alice, lease, PATIENCE)
        self.assertEqual({}, self.taken())
        self.assertIsNone(self.heat.find_stack(self.named, ignore_missing=True))
