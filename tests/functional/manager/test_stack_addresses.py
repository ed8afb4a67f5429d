# SPDX-License-Identifier: Apache-2.0

"""Leases of stacks whose floating IPs are booked with them."""

from __future__ import annotations

import json
from typing import Any

from climate import exceptions
from climate.domain.leases import Lease
from climate.plugins import marks
from climate.plugins.stack.plugin import VirtualStack
from climate.plugins.stack.settings import StackSettings
from tests.functional.manager import harness
from tests.functional.manager import stack_case
from tests.functional.manager.walk import kinds
from tests.functional.manager.walk.stacks import VERSION

ADDRESS = 'virtual:floatingip'
IP = 'OS::Neutron::FloatingIP'
TEMPLATE = f"""{VERSION}
parameters: {{outside: {{type: string}}}}
resources:
  server: {{type: OS::Nova::Server, properties: {{flavor: m1.tiny}}}}
  port: {{type: OS::Neutron::Port}}
  door:
    type: OS::Neutron::FloatingIP
    properties: {{floating_network: {{get_param: outside}}, port_id: {{get_resource: port}}}}
  spare: {{type: OS::Neutron::FloatingIP, properties: {{floating_network: public}}}}
"""


class TestAddresses(stack_case.StackCase):
    """Three addresses can be had."""

    def setUp(self) -> None:
        super().setUp()
        self.site.plugins[stack_case.TYPE] = VirtualStack(
            StackSettings(guarantee=frozenset({'servers', 'floating_ips'}))
        )
        self.place = kinds.TypeRegistrar(self.site.store, self.site.plugins, self.cloud)
        self.public = next(item for item in self.cloud.networks.networks() if item.external)
        for address in kinds.ADDRESSES:
            self.place.register(
                ADDRESS, floating_network_id=self.public.id, floating_ip_address=address
            )

    def wanted(self, **more: Any) -> Lease:
        """Lease a stack that has two."""
        # By its name in one place, and by its id in the other.
        template = TEMPLATE.replace('public', self.public.name)
        more = {'template': template, 'parameters': {'outside': self.public.id}, **more}
        return self.made(**more)

    def ids(self) -> set[str]:
        """Return the ids of the floating IPs of the only stack."""
        (row,) = self.cloud.contents()['stacks']
        return {item['physical_id'] for item in json.loads(str(row[4])) if item['type'] == IP}

    def there(self) -> dict[str, str]:
        """Return the floating IPs of the project, addresses by their ids."""
        return {
            item.id: item.address
            for item in self.cloud.networks.floating_ips()
            if item.project_id == harness.PROJECT
        }

    def test_a_stack_has_those_that_were_booked_for_it(self) -> None:
        lease = self.wanted()
        found = [item.resource_type for item in lease.reservations]
        self.assertEqual(['flavor:instance', ADDRESS, stack_case.TYPE], found)
        self.site.until(50)
        self.assertEqual({}, self.there())
        self.assertEqual('ACTIVE', self.site.status_at(200, lease))
        self.assertEqual(2, len(self.there()))
        self.assertEqual(set(self.there()), self.ids())
        self.assertLessEqual(set(self.there().values()), set(kinds.ADDRESSES))
        self.assertEqual('TERMINATED', self.site.status_at(3700, lease))
        self.assertEqual({}, self.there())
        self.assertIsNone(self.heat.find_stack('web'))

    def test_no_more_stacks_than_there_are_addresses_for(self) -> None:
        self.wanted()
        self.assert_error(exceptions.NotEnoughResources, ADDRESS, self.wanted, name='other')
        self.wanted(name='other', start=4000, end=5000)
        self.wanted(name='third', guarantee=False)

    def test_what_it_contains_is_shown(self) -> None:
        lease = self.wanted()
        plugin = self.site.plugins[stack_case.TYPE]
        shown = plugin.describe(lease.reservations[-1])['contents']['floating_ips']
        self.assertEqual(
            sorted([(self.public.name, self.public.id), (self.public.id, self.public.id)]),
            [(item['network'], item['network_id']) for item in shown],
        )

    def test_a_network_that_is_not_there_is_reported_at_once(self) -> None:
        with self.assertRaisesRegex(exceptions.InvalidInput, "'nowhere'"):
            self.wanted(parameters={'outside': 'nowhere'})
        self.wanted(parameters={'outside': 'nowhere'}, guarantee=False)

    def test_those_of_a_group_are_reported_at_once(self) -> None:
        group = f"""{VERSION}
resources:
  all:
    type: OS::Heat::ResourceGroup
    properties:
      count: 2
      resource_def:
        type: OS::Neutron::FloatingIP
        properties: {{floating_network: {self.public.name}}}
"""
        with self.assertRaisesRegex(exceptions.InvalidInput, 'group'):
            self.wanted(template=group, parameters={})

    def test_one_that_is_late_is_waited_for(self) -> None:
        lease = self.wanted()
        self.cloud.fail('network.list_floating_ips', 2)
        self.assertEqual('ACTIVE', self.site.status_at(200, lease))
        self.assertEqual(set(self.there()), self.ids())

    def test_what_others_have_tagged_does_not_count(self) -> None:
        """Any project can call its addresses those of a reservation."""
        lease = self.wanted()
        (booked,) = (item for item in lease.reservations if item.resource_type == ADDRESS)
        self.site.until(50)
        for project in ('red', harness.PROJECT):
            made = self.cloud.network.create_floating_ip(self.public.id, project)
            self.cloud.network.set_floating_ip_tags(made.id, marks.tags(booked.id))
        self.assertEqual('ACTIVE', self.site.status_at(200, lease))
        addresses = {item.id: item.address for item in self.cloud.networks.floating_ips()}
        self.assertLessEqual({addresses[each] for each in self.ids()}, set(kinds.ADDRESSES))

    def test_a_stack_that_fails_leaves_none(self) -> None:
        lease = self.wanted()
        self.cloud.fail('orchestration.create_stack', None, error='quota')
        self.assertEqual('ERROR', self.site.status_at(200, lease))
        self.assertEqual({}, self.there())
