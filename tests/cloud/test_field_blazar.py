# SPDX-License-Identifier: Apache-2.0

"""The older command line of the same client: ``blazar``."""

from __future__ import annotations

from functools import partial

from tests.cloud.base import smoke
from tests.cloud.field import at_once
from tests.cloud.field import FieldTest
from tests.cloud.field import Shell
from tests.functional.clients import minute


class TestBlazar(FieldTest):
    """It finds the service by itself, which the commands of openstack do not."""

    def setUp(self) -> None:
        super().setUp()
        self.hers = Shell(self.cloud, 'alice', 'blazar')

    @smoke
    def test_leases(self) -> None:
        name = self.name('old')
        created = self.hers.json(
            'lease-create', '--physical-reservation', 'min=1,max=1',
            '--start-date', minute(10), '--end-date', minute(20), name,
        )  # fmt: skip
        his = Shell(self.cloud, 'bob', 'blazar')
        listed, found, hosts, allocations, many, stranger = at_once(
            partial(self.hers.json, 'lease-list'),
            partial(self.hers.json, 'lease-show', name),
            partial(self.hers.json, 'host-list'),
            partial(self.hers.json, 'allocation-list', 'host'),
            partial(
                self.hers.refusal, 'lease-create', '--physical-reservation', 'min=99,max=99', name
            ),
            partial(his.refusal, 'lease-delete', created['id']),
        )
        self.assertEqual([created['id']], [each['id'] for each in listed])
        self.assertEqual('PENDING', found['status'])
        self.assertEqual([self.lent[0]], [each['hypervisor_hostname'] for each in hosts])
        self.assertEqual([hosts[0]['id']], [each['resource_id'] for each in allocations])
        self.assertEqual('ERROR: Not enough hosts available', many)
        self.assertIn('not found', stranger)
        self.hers.run('lease-update', '--prolong-for', '10m', '--name', self.name('new'), name)
        self.assertEqual(self.name('new'), self.alice.lease(created['id'])['name'])
        self.hers.run('lease-delete', self.name('new'))
        self.assertEqual([], self.alice.leases())

    def test_hosts(self) -> None:
        hers = Shell(self.cloud, 'admin', 'blazar')
        host = self.cloud.site_hosts[-1]
        created = hers.json('host-create', '--extra', 'gpu=True', host)
        self.assertEqual((host, 'True'), (created['hypervisor_hostname'], created['gpu']))
        hers.run('host-update', '--extra', 'gpu=False', host)
        found, forbidden = at_once(
            partial(hers.json, 'host-show', created['id']),
            partial(self.hers.refusal, 'host-delete', created['id']),
        )
        self.assertEqual('False', found['gpu'])
        self.assertEqual(
            "ERROR: Policy doesn't allow climate:hosts:delete to be performed", forbidden
        )
        hers.run('host-delete', host)
        self.assertNotIn(host, self.members(self.cloud.freepool))
