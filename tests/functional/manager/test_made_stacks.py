# SPDX-License-Identifier: Apache-2.0

"""Leases of stacks that are made at the start: with room, with a trust, and gone at the end."""

from __future__ import annotations

import datetime
import json

from climate import exceptions
from climate.cloud.protocols.stacks import StackDraft
from climate.plugins.stack.plugin import VirtualStack
from climate.plugins.stack.settings import StackSettings
from climate.simulator.volume_contents import POOL
from climate.simulator.volume_types import DEFAULT_TYPE
from tests.functional.db import everything
from tests.functional.manager import harness
from tests.functional.manager import stack_case
from tests.functional.manager.walk import kinds
from tests.functional.manager.walk.stacks import SMALL
from tests.functional.manager.walk.stacks import TEMPLATE
from tests.functional.manager.walk.stacks import VERSION

BROKEN = f"""{VERSION}
resources: {{bad: {{type: OS::Heat::TestResource, properties: {{fail: true}}}}}}
"""


class TestMade(stack_case.StackCase):
    """A stack that is made of a template."""

    def test_it_works_when_its_owner_arrives(self) -> None:
        lease = self.made()
        self.site.until(50)
        self.assertIsNone(self.heat.find_stack('web'))
        self.cloud.set_seconds('stack', 10)
        self.assertEqual('STARTING', self.site.status_at(105, lease))
        self.site.until(200)
        self.assertEqual(
            ('CREATE_COMPLETE', 'ACTIVE'), (self.state('web'), self.site.status(lease))
        )
        tiny, small, whole = self.site.now(lease).reservations
        self.assertEqual([whole.id, whole.id, None], [tiny.part_of, small.part_of, whole.part_of])
        # Of the group, the simulated cloud makes what is wanted at first.
        self.assertEqual(sorted([tiny.id, small.id]), self.flavors())
        self.assertEqual(('climate', f'reservation:{whole.id}'), self.stack('web').tags)
        self.assertEqual(harness.PROJECT, self.stack('web').project_id)
        self.assertEqual('TERMINATED', self.site.status_at(3700, lease))
        self.assertIsNone(self.heat.find_stack('web'))
        self.assertEqual([], self.trusts())

    def test_its_room_is_booked_with_all_that_groups_may_grow_to(self) -> None:
        amounts = [item.request.get('amount') for item in self.made().reservations]
        self.assertEqual([1, 3, None], amounts)
        most = TEMPLATE.replace('max_size: 3', 'max_size: 300')
        error = self.assertRaises(
            exceptions.NotEnoughResources, self.made, name='other', template=most
        )
        self.assertEqual(409, error.code)
        self.assertEqual(1, len(self.trusts()))
        self.made(name='other', template=most, guarantee=False, start=200)

    def test_room_for_its_volumes_where_operators_say_so(self) -> None:
        settings = StackSettings(guarantee=frozenset({'servers', 'volumes'}))
        self.site.plugins[stack_case.TYPE] = VirtualStack(settings)
        place = kinds.TypeRegistrar(self.site.store, self.site.plugins, self.cloud)
        place.register('physical:storage', POOL)
        typed = TEMPLATE.replace('{size: 3}', f'{{size: 3, volume_type: {DEFAULT_TYPE}}}')
        lease = self.made(template=typed)
        has = {
            item.resource_class: item.amount
            for item in self.site.allocations(lease)
            if item.reservation_id == lease.reservations[2].id
        }
        self.assertEqual({'DISK_GB': 3}, has)
        huge = typed.replace('{size: 3,', '{size: 999999,')
        with self.assertRaises(exceptions.NotEnoughResources) as refused:
            self.made(name='other', template=huge)
        self.assertIn('virtual:volume', refused.exception.message)
        self.assertEqual('ACTIVE', self.site.status_at(200, lease))
        # It is Heat who makes them.
        self.assertEqual([], self.cloud.contents()['volumes'])
        self.assertEqual('TERMINATED', self.site.status_at(3700, lease))

    def test_parts_are_not_changed_by_themselves(self) -> None:
        lease = self.made()
        with self.assertRaisesRegex(exceptions.InvalidInput, 'part'):
            self.site.change(lease, ({'amount': 2}, None, None))

    def test_two_of_a_name_are_refused_before_either_is_there(self) -> None:
        self.made()
        self.assertRaises(exceptions.NotEnoughResources, self.made, start=200, end=300)
        self.made(start=4000, end=5000)

    def test_a_name_that_is_taken_by_then_is_reported(self) -> None:
        lease = self.made()
        theirs = self.heat.create_stack(StackDraft(name='web', template=SMALL))
        self.assertEqual('ERROR', self.site.status_at(200, lease))
        self.assertIn("another stack of the name 'web'", self.reason(lease))
        self.assertEqual(theirs, self.stack('web').id)
        self.site.delete(lease)
        self.assertEqual('gone', self.site.status_at(300, lease))
        self.assertEqual('CREATE_COMPLETE', self.state('web'))

    def test_what_heat_fails_to_make_is_reported_and_deleted(self) -> None:
        lease = self.made(template=BROKEN)
        self.assertEqual('ERROR', self.site.status_at(200, lease))
        self.assertIn('Test Resource failed bad', self.reason(lease))
        self.assertIsNone(self.heat.find_stack('web'))
        self.assertEqual([], self.trusts())

    def test_what_heat_cannot_make_any_more_is_reported(self) -> None:
        lease = self.made(guarantee=False)
        self.cloud.fail('orchestration.create_stack', None, error='quota')
        self.assertEqual('ERROR', self.site.status_at(200, lease))
        self.cloud.heal()
        self.site.until(300)
        self.assertEqual([], self.trusts())

    def test_it_may_take_longer_than_failures_are_tried(self) -> None:
        lease = self.made()
        self.cloud.set_seconds('stack', 80)
        self.site.until(150)
        # Less than the deadline, and long after the start was begun.
        self.cloud.reachable = False
        self.site.until(153)
        self.cloud.reachable = True
        self.assertEqual('STARTING', self.site.status_at(179, lease))
        self.assertEqual('ACTIVE', self.site.status_at(200, lease))

    def test_it_may_not_take_for_ever(self) -> None:
        settings = StackSettings(create=datetime.timedelta(seconds=20))
        self.site.plugins[stack_case.TYPE] = VirtualStack(settings)
        lease = self.made()
        self.cloud.set_seconds('stack', 40)
        self.assertEqual('ERROR', self.site.status_at(200, lease))
        self.assertIn('for longer than 0:00:20', self.reason(lease))
        self.assertIsNone(self.heat.find_stack('web'))

    def test_heat_is_unavailable_when_it_is_booked(self) -> None:
        self.cloud.fail('orchestration.preview_stack')
        self.assertEqual(503, self.assertRaises(exceptions.CloudUnavailable, self.made).code)

    def test_one_that_its_owner_deletes_is_not_made_again(self) -> None:
        lease = self.made()
        self.site.until(200)
        self.heat.delete_stack(self.stack('web').id)
        list(self.site.repair().run())
        self.site.until(300)
        self.assertIsNone(self.heat.find_stack('web'))
        self.assertTrue(self.site.now(lease).degraded)
        self.assertEqual('TERMINATED', self.site.status_at(3700, lease))

    def test_one_that_is_deleted_while_it_is_made(self) -> None:
        lease = self.made()
        self.cloud.set_seconds('stack', 10)
        self.site.until(105)
        self.cloud.set_seconds('stack', 0)
        self.heat.delete_stack(self.stack('web').id)
        self.assertEqual('ERROR', self.site.status_at(200, lease))
        self.assertIn('is gone', self.reason(lease))

    def test_one_that_is_to_outlive_its_lease(self) -> None:
        lease = self.made(guarantee=False, on_end=['snapshot', 'suspend'])
        self.assertEqual('TERMINATED', self.site.status_at(3700, lease))
        self.assertEqual([('COMPLETE', 'end')], self.snapshots('web'))
        self.assertEqual('SUSPEND_COMPLETE', self.state('web'))
        self.assertEqual([], self.trusts())

    def test_what_is_leased_afterwards_is_the_same_stack(self) -> None:
        self.made(guarantee=False, on_end=['suspend'])
        self.site.until(200)
        stack_id = self.stack('web').id
        self.assertRaises(exceptions.NotEnoughResources, self.existing, stack_id, start=300)
        self.existing(stack_id, start=4000, end=5000)

    def test_what_it_is_made_of_stays_secret(self) -> None:
        secret = 'opensesame'
        lease = self.made(
            template=f'{TEMPLATE}# {secret}\n', files={'a.yaml': secret}, guarantee=False
        )
        self.assertIn(secret, everything.text(self.site.store.engine))
        self.assertEqual('TERMINATED', self.site.status_at(3700, lease))
        self.assertNotIn(secret, everything.text(self.site.store.engine))
        self.site.delete(lease)
        self.site.until(3800)
        text = json.dumps([message.payload for message in self.site.bus.taken])
        self.assertIn(lease.id, text)
        self.assertNotIn(secret, text)
