# SPDX-License-Identifier: Apache-2.0

"""``openstack reservation lease`` and what follows from it in Nova, as users see it."""

from __future__ import annotations

import datetime
from functools import partial
from typing import Any

from tests.cloud.base import reservation
from tests.cloud.base import smoke
from tests.cloud.field import at_once
from tests.cloud.field import FieldTest
from tests.cloud.field import ONE_HOST
from tests.cloud.field import Shell
from tests.cloud.field import shown
from tests.cloud.field import UUID
from tests.functional.clients import minute
from tests.functional.clients import nested

HOUR = datetime.timedelta(hours=1)


class TestLeases(FieldTest):
    """Alice books; bob has no part in it."""

    def setUp(self) -> None:
        super().setUp()
        self.hers = self.reservations('alice')
        self.his = self.reservations('bob')

    def create(self, name: str, *options: str) -> dict[str, Any]:
        return self.hers.json(
            'lease', 'create', self.name(name), '--reservation', ONE_HOST, *options
        )

    def test_booked_for_later(self) -> None:
        start, end, warn = minute(10), minute(100), minute(50)
        created, later = at_once(
            partial(
                self.create, 'first', '--start-date', start, '--end-date', end,
                '--before-end-date', warn,
            ),
            partial(self.create, 'later', '--start-date', minute(300)),
        )  # fmt: skip
        self.assertRegex(created['id'], UUID)
        self.assertEqual((shown(start), shown(end)), (created['start_date'], created['end_date']))
        self.assertEqual('PENDING', created['status'])
        kinds = {each['event_type']: each['time'] for each in nested(created['events'])}
        self.assertEqual(shown(warn), kinds['before_end_lease'])
        self.look(created, later)
        self.refusals(created)
        self.change(created, datetime.datetime.fromisoformat(start))
        at_once(
            partial(self.hers.run, 'lease', 'delete', self.name('renamed')),
            partial(self.hers.run, 'lease', 'delete', later['id']),
        )
        self.assertEqual([], self.alice.leases())

    def look(self, created: dict[str, Any], later: dict[str, Any]) -> None:
        (line,) = nested(created['reservations'])
        listed, by_name, by_id, hers, of_host, his = at_once(
            partial(self.hers.json, 'lease', 'list', '--sort-by', 'start_date'),
            partial(self.hers.json, 'lease', 'show', self.name('first')),
            partial(self.hers.json, 'lease', 'show', later['id']),
            partial(self.hers.json, 'allocation', 'list', 'host', '--lease-id', created['id']),
            partial(self.hers.json, 'allocation', 'show', 'host', self.lent[0]),
            partial(self.his.json, 'lease', 'list'),
        )
        self.assertEqual([created['id'], later['id']], [each['id'] for each in listed])
        self.assertEqual(created['id'], by_name['id'])
        self.assertEqual(self.name('later'), by_id['name'])
        self.assertEqual([line['id']], [each['id'] for each in nested(hers[0]['reservations'])])
        self.assertEqual(2, len(nested(of_host['reservations'])))
        self.assertEqual([], his)

    def change(self, created: dict[str, Any], start: datetime.datetime) -> None:
        """Each change is read back; relative ones count from what was."""
        end = datetime.datetime.fromisoformat(created['end_date'])
        line = nested(created['reservations'])[0]['id']
        rest = f'id={line},min=1,max=1,hypervisor_properties=[">=", "$vcpus", "1"]'
        renamed = ('--name', self.name('renamed'), '--reservation', rest)
        for options, begins, ends in (
            (('--prolong-for', '1h', '--defer-by', '30m'), start + HOUR / 2, end + HOUR),
            (
                ('--reduce-by', '30m', '--advance-by', '10m', *renamed),
                start + HOUR / 3,
                end + HOUR / 2,
            ),
        ):
            self.hers.run('lease', 'set', created['id'], *options)
            answer = self.alice.call('GET', f'/leases/{created["id"]}', version='1.0')
            lease = answer.json()['lease']
            dates = [
                datetime.datetime.fromisoformat(lease[f'{each}_date']) for each in ('start', 'end')
            ]
            self.assertEqual([begins, ends], dates, options)
        self.assertEqual(self.name('renamed'), lease['name'])
        self.assertEqual('[">=", "$vcpus", "1"]', lease['reservations'][0]['hypervisor_properties'])

    def refusals(self, lease: dict[str, Any]) -> None:
        not_found = f"ERROR: Object with {{'lease_id': '{lease['id']}'}} not found"
        many = 'resource_type=physical:host,min=99,max=99'
        found = at_once(
            partial(self.hers.refusal, 'lease', 'create', 'x', '--reservation', many),
            partial(self.hers.refusal, 'lease', 'set', lease['id'], '--end-date', minute(5)),
            partial(self.his.refusal, 'lease', 'delete', lease['id']),
            partial(self.his.refusal, 'lease', 'set', lease['id'], '--name', 'mine'),
        )
        too_many = 'ERROR: Not enough hosts available'
        reversed_dates = 'ERROR: End date must be later than current and start date'
        self.assertEqual([too_many, reversed_dates, not_found, not_found], found)

    @smoke
    def test_now_with_servers(self) -> None:
        created = self.create('now', '--end-date', minute(10))
        lease = self.await_active(self.alice, created)
        hint = ('--hint', f'reservation={reservation(lease)}')
        alice, bob = (Shell(self.cloud, user, 'openstack', 'server') for user in ('alice', 'bob'))
        kind = ('--flavor', self.cloud.flavor, '--image', self.cloud.image)
        what = (*kind, '--nic', 'none', '--wait')
        hers, plain, his = at_once(
            partial(alice.json, 'create', *what, *hint, self.name('hers')),
            partial(alice.json, 'create', *what, self.name('plain')),
            partial(bob.refusal, 'create', *what, *hint, self.name('his')),
        )
        self.assertEqual(self.lent[0], self.host_of(hers['id']))
        self.assertNotEqual(self.lent[0], self.host_of(plain['id']))
        self.assertIn('Error creating server', his)
        self.hers.run('lease', 'delete', created['id'])
        self.await_gone(self.alice, created)
        self.assertEqual('GONE', self.alice.status(hers['id']))
        self.assertEqual('ACTIVE', self.alice.status(plain['id']))
        self.assert_free(self.lent, lease)
