# SPDX-License-Identifier: Apache-2.0

"""``OS::Climate::Lease``, made by the real heat-engine."""

from __future__ import annotations

import pathlib
from typing import Any

from tests.cloud.base import smoke
from tests.cloud.people import time
from tests.cloud.people import within
from tests.cloud.stacks import StackTest
from tests.cloud.waiting import until

# The template of the user guide.
EXAMPLE = pathlib.Path(__file__).parents[2] / 'doc' / 'source' / 'user' / 'climate-lease.yaml'
TYPE = 'physical:host'


class TestLease(StackTest):
    """Two hosts, which a template leases as the API does."""

    hosts = 2

    @smoke
    def test_servers_on_what_is_leased(self) -> None:
        """Hosts and instances in one lease that starts at once, and is extended in place."""
        template = EXAMPLE.read_text(encoding='utf-8')
        cloud = self.cloud
        given = {'image': cloud.image, 'flavor': cloud.flavor, 'network': cloud.network}
        stack, outputs = self.make(self.alice, template, **given)
        self.assertEqual('CREATE_COMPLETE', stack.status, stack.status_reason)
        lease = self.alice.lease(outputs['lease']['id'])
        self.assertEqual(('ACTIVE', 'ACTIVE'), (lease['status'], outputs['lease']['status']))
        big, small = lease['reservations']
        (host,) = outputs['hosts']
        self.assertEqual(host, self.host_of(outputs['on_host']))
        self.assertEqual([host], self.members(big['id']))
        self.assertEqual(set(self.lent) - {host}, {self.host_of(outputs['instance'])})
        flavor = self.alice.sdk.compute.get_server(outputs['instance']).flavor
        self.assertIn(small['id'], flavor['original_name'])
        stack, changed = self.change(self.alice, stack, template, **given, duration='3h')
        self.assertEqual('UPDATE_COMPLETE', stack.status, stack.status_reason)
        self.assertEqual(
            {**outputs, 'lease': None}, {**changed, 'lease': None}, 'something was replaced'
        )
        longer = self.alice.lease(lease['id'])
        self.assertEqual(changed['lease']['end_date'], longer['end_date'])
        self.assertEqual(3600, (time(longer['end_date']) - time(lease['end_date'])).seconds)
        self.remove(self.alice, stack)
        self.assertEqual([], self.alice.leases())
        self.assert_free(self.lent, lease)

    def test_offers_refusals_and_changes(self) -> None:
        self.assert_documented()
        wait = self.book(self.bob, 300, 1200, hosts=2)
        after = self.book(self.bob, 3600, 1200, hosts=2)
        period = {'start_date': wait['start_date'], 'end_date': wait['end_date']}
        stack, _ = self.make(self.alice, self.template(**period))
        self.assertEqual('CREATE_FAILED', stack.status)
        for words in (
            'Not enough hosts available',
            'hosts: 2 match, 0 free, and the first reservation in the way ends',
            'UTC: 1 host (later)',
        ):
            self.assertIn(words, stack.status_reason)
        self.assertEqual([], self.alice.leases())
        self.remove(self.alice, stack)
        # The same length as soon as there is a host.
        wanted = {'duration': '20m', 'earliest': within(290).isoformat(), 'wait_for': 'BOOKED'}
        stack, outputs = self.make(self.alice, self.template(**wanted))
        self.assertEqual('CREATE_COMPLETE', stack.status, stack.status_reason)
        (lease,) = self.alice.leases()
        self.assertEqual('PENDING', lease['status'])
        # Offers start at whole minutes.
        later = (time(lease['start_date']) - time(wait['end_date'])).total_seconds()
        self.assertTrue(0 <= later < 60, later)
        self.assertEqual({'hosts': lease['reservations'][0]['id']}, self.labels(outputs['ids']))
        self.assertEqual(1, len(outputs['names'][TYPE]))
        # A later lease is in the way; what fails does not need another lease.
        stack, _ = self.change(self.alice, stack, self.template(**wanted | {'duration': '2h'}))
        self.assertEqual('UPDATE_FAILED', stack.status)
        self.assertIn('Not enough hosts available', stack.status_reason)
        more = self.template(hosts=2, name=self.name('renamed'), **wanted | {'duration': '25m'})
        stack, outputs = self.change(self.alice, stack, more)
        self.assertEqual('UPDATE_COMPLETE', stack.status, stack.status_reason)
        changed = self.alice.lease(lease['id'])
        self.assertEqual(self.name('renamed'), changed['name'])
        self.assertEqual(1500, (time(changed['end_date']) - time(lease['start_date'])).seconds)
        self.assertEqual(sorted(self.lent), outputs['names'][TYPE])
        # Attributes are those of the present, whatever changes the lease.
        self.alice.update_lease(lease['id'], name=self.name('again'))
        outputs = self.outputs(self.alice.sdk.orchestration.get_stack(stack.id))
        self.assertEqual(self.name('again'), outputs['name'])
        self.use_existing_lease(lease)
        self.remove(self.alice, stack)
        self.assertEqual([], self.alice.leases())
        for each in (wait, after):
            self.bob.delete_lease(each['id'])

    def test_a_stack_waits_for_room(self) -> None:
        """A flexible lease without room in its window is booked when another one is deleted."""
        taken = self.book(self.bob, 300, 1200, hosts=2)
        window = {'earliest': within(290).isoformat(), 'latest': within(1700).isoformat()}
        wanted = {'duration': '20m', **window, 'wait': True, 'wait_for': 'BOOKED'}
        stack = self.begin(self.alice, self.template(hosts=2, **wanted))
        until(self.alice.leases, 30, 'the lease is requested')
        self.assertEqual('CREATE_IN_PROGRESS', self.status(self.alice, stack))
        self.bob.delete_lease(taken['id'])
        ended = self.ended(self.alice, stack, 'CREATE_IN_PROGRESS')
        self.assertEqual('CREATE_COMPLETE', ended.status, ended.status_reason)
        (lease,) = self.alice.leases()
        self.assertEqual('PENDING', lease['status'])
        self.assertLess(time(lease['start_date']), time(taken['end_date']))
        self.assertEqual(2, len(self.outputs(ended)['names'][TYPE]))
        self.remove(self.alice, stack)
        self.assertEqual([], self.alice.leases())

    def test_a_stack_fails_if_it_has_waited_for_too_long(self) -> None:
        """Its failure is the reason why the lease has ended."""
        taken = self.book(self.bob, 300, 1200, hosts=2)
        wanted = {
            'duration': '20m', 'earliest': within(290).isoformat(),
            'latest': within(1700).isoformat(), 'wait': True,
            'wait_until': within(90).isoformat(), 'wait_for': 'BOOKED',
        }  # fmt: skip
        stack, _ = self.make(self.alice, self.template(hosts=2, **wanted))
        self.assertEqual('CREATE_FAILED', stack.status)
        self.assertIn('There was no room for it in time', stack.status_reason)
        self.remove(self.alice, stack)
        self.bob.delete_lease(taken['id'])

    def use_existing_lease(self, lease: dict[str, Any]) -> None:
        """A stack uses a lease that it did not make, and leaves it alone."""
        template = self.template()
        template['resources']['it']['external_id'] = lease['id']
        stack, outputs = self.make(self.alice, template)
        self.assertEqual('CREATE_COMPLETE', stack.status, stack.status_reason)
        self.assertEqual({TYPE: lease['reservations'][0]['id']}, outputs['ids'])
        self.remove(self.alice, stack)
        self.assertEqual('PENDING', self.alice.lease(lease['id'])['status'])

    def assert_documented(self) -> None:
        """Every property and attribute is in the user guide."""
        shown = self.alice.sdk.orchestration.get('/resource_types/OS::Climate::Lease').json()
        page = EXAMPLE.with_name('heat.rst').read_text(encoding='utf-8')
        names = {*shown['properties'], *shown['attributes']}
        self.assertEqual([], [name for name in sorted(names) if f'``{name}``' not in page])

    def labels(self, ids: dict[str, str]) -> dict[str, str]:
        """Return the ids by label; each must be there by type as well."""
        self.assertEqual(ids.pop(TYPE), ids['hosts'])
        return ids

    def template(self, hosts: int = 1, **properties: Any) -> Any:
        """Return a template of one lease of hosts."""
        line = {'label': 'hosts', 'resource_type': TYPE, 'min': hosts, 'max': hosts}
        wanted = {'reservations': [line], **properties}
        return {
            'heat_template_version': '2021-04-16',
            'resources': {'it': {'type': 'OS::Climate::Lease', 'properties': wanted}},
            'outputs': {
                'name': {'value': {'get_attr': ['it', 'name']}},
                'ids': {'value': {'get_attr': ['it', 'reservation_ids']}},
                'names': {'value': {'get_attr': ['it', 'resources']}},
            },
        }
