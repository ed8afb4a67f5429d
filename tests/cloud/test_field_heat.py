# SPDX-License-Identifier: Apache-2.0

"""Heat's ``OS::Blazar::Lease`` and ``OS::Blazar::Host``, made by the real heat-engine."""

from __future__ import annotations

import pathlib
from typing import Any

import openstack
import yaml

from tests.cloud.base import smoke
from tests.cloud.field import present_minute
from tests.cloud.field import shown
from tests.cloud.stacks import StackTest
from tests.cloud.waiting import until
from tests.functional.clients import minute

# The attributes of each.
LEASE = (
    *('name', 'start_date', 'end_date', 'created_at', 'updated_at', 'status'),
    *('degraded', 'user_id', 'project_id', 'trust_id', 'reservations', 'events'),
    *('show',),
)

HOST = (
    *('hypervisor_hostname', 'hypervisor_type', 'hypervisor_version', 'vcpus'),
    *('cpu_info', 'memory_mb', 'local_gb', 'service_name', 'reservable', 'status'),
    *('trust_id', 'created_at', 'updated_at', 'show'),
)
# What the user guide has readers copy.
EXAMPLE = pathlib.Path(__file__).parents[2] / 'doc' / 'source' / 'user' / 'heat-lease.yaml'


class BlazarTest(StackTest):
    """A stack of the resources that Heat has."""

    def template(self, kind: str, attributes: tuple[str, ...] = (), **properties: Any) -> Any:
        """Return a template of one thing, which puts its attributes out."""
        return {
            'heat_template_version': '2021-04-16',
            'resources': {'it': {'type': kind, 'properties': properties}},
            'outputs': {name: {'value': {'get_attr': ['it', name]}} for name in attributes},
        }

    def lease(self, hosts: int = 1) -> Any:
        line = {'resource_type': 'physical:host', 'min': hosts, 'max': hosts}
        facts = {'name': self.name('heat'), 'start_date': minute(10), 'end_date': minute(20)}
        facts['events'] = [{'event_type': 'notification', 'time': minute(12)}]
        return self.template('OS::Blazar::Lease', LEASE, reservations=[line], **facts)


class TestLeaseInStack(BlazarTest):
    """The lease is alice's, as if she had booked it herself."""

    @smoke
    def test_later(self) -> None:
        template = self.lease()
        stack, outputs = self.make(self.alice, template)
        self.assertEqual('CREATE_COMPLETE', stack.status, stack.status_reason)
        (lease,) = self.alice.call('GET', '/leases', version='1.0').json()['leases']
        self.assertEqual({**{name: lease[name] for name in LEASE[:-1]}, 'show': lease}, outputs)
        body = template['resources']['it']['properties']
        self.assertEqual(shown(body['start_date']), lease['start_date'])
        self.assertIn(shown(body['events'][0]['time']), [each['time'] for each in lease['events']])
        # What Heat looks up anew is "show"; the rest is as it was when it was made.
        self.alice.update_lease(lease['id'], name=self.name('renamed'))
        outputs = self.outputs(self.alice.sdk.orchestration.get_stack(stack.id))
        self.assertEqual(self.name('renamed'), outputs['show']['name'])
        self.assertEqual(self.name('heat'), outputs['name'])
        # It does not matter to Heat that somebody else was faster.
        self.alice.delete_lease(lease['id'])
        self.remove(self.alice, stack)

    def test_not_enough_hosts(self) -> None:
        stack, _ = self.make(self.alice, self.lease(hosts=99))
        self.assertEqual('CREATE_FAILED', stack.status)
        self.assertIn('ERROR: Not enough hosts available', stack.status_reason)
        self.assertEqual([], self.alice.leases())

    def test_other_projects_may_not_list_hosts(self) -> None:
        """Heat looks for hosts with the user's own token before it asks for a lease."""
        policy = self.cloud.climate_conf.with_name('policy.yaml')
        before = policy.read_text(encoding='utf-8') if policy.exists() else '{}'
        self.addCleanup(policy.write_text, before, encoding='utf-8')
        rules = {**yaml.safe_load(before), 'climate:hosts:list': 'role:admin'}
        policy.write_text(yaml.safe_dump(rules), encoding='utf-8')
        self.assert_error(
            openstack.exceptions.BadRequestException,
            "Policy doesn't allow climate:hosts:list",
            self.make,
            self.alice,
            self.lease(),
        )

    def test_server_on_the_leased_host(self) -> None:
        """The example of the user guide."""
        names = {name: getattr(self.cloud, name) for name in ('image', 'flavor', 'network')}
        dates = {'start': present_minute(), 'end': minute(10), 'wait': 5}
        text = EXAMPLE.read_text(encoding='utf-8')
        stack, outputs = self.make(self.alice, text, **dates, **names)
        self.assertEqual('CREATE_COMPLETE', stack.status, stack.status_reason)
        self.assertEqual('ACTIVE', outputs['lease']['status'])
        self.assertEqual(self.lent[0], self.host_of(outputs['server']))
        self.remove(self.alice, stack)
        self.await_gone(self.alice, outputs['lease'])
        self.assertEqual('GONE', self.alice.status(outputs['server']))
        self.assert_free(self.lent, outputs['lease'])


class TestHostInStack(BlazarTest):
    """Hosts are the administrator's, and leases need one."""

    hosts = 0

    def test_no_host(self) -> None:
        self.assert_error(
            openstack.exceptions.BadRequestException,
            "Couldn't find any host",
            self.make,
            self.alice,
            self.lease(),
        )

    def test_host(self) -> None:
        name = self.cloud.site_hosts[-1]
        template = self.template(
            'OS::Blazar::Host', HOST, name=name, extra_capability={'gpu': True, 'cards': 3}
        )
        self.assertRaises(openstack.exceptions.ForbiddenException, self.make, self.alice, template)
        stack, outputs = self.make(self.admin, template)
        self.assertEqual('CREATE_COMPLETE', stack.status, stack.status_reason)
        (host,) = self.admin.call('GET', '/os-hosts', version='1.0').json()['hosts']
        self.assertEqual({**{each: host[each] for each in HOST[:-1]}, 'show': host}, outputs)
        self.assertEqual(
            (name, 'True', '3'), (host['hypervisor_hostname'], host['gpu'], host['cards'])
        )
        self.assertIn(name, self.members(self.cloud.freepool))
        self.leased(stack)
        self.remove(self.admin, stack)
        self.assertEqual([], self.admin.hosts())
        self.assertNotIn(name, self.members(self.cloud.freepool))

    def leased(self, stack: Any) -> None:
        """A host that somebody has booked is not let go."""
        lease = self.book(self.alice, 600)
        self.admin.sdk.orchestration.delete_stack(stack.id)
        until(lambda: self.status(self.admin, stack) == 'DELETE_FAILED', 60, 'it is refused')
        reason = self.admin.sdk.orchestration.get_stack(stack.id).status_reason
        self.assertIn('cannot be deleted: it has reservations', reason)
        self.alice.delete_lease(lease['id'])
