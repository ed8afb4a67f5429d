# SPDX-License-Identifier: Apache-2.0
"""Apache Libcloud, unmodified, with a catalog as the installation page makes it."""

from __future__ import annotations

from typing import Any

from libcloud.common.types import LibcloudError
from libcloud.compute.drivers.openstack import OpenStackNodeDriver
from libcloud.compute.providers import get_driver
from libcloud.compute.types import Provider

from tests import base
from tests.functional import bodies
from tests.functional import guarded
from tests.functional import http
from tests.functional.keystone import PASSWORD
from tests.functional.listening import Listener
from tests.printed import blocks


class TestLibcloud(base.TestCase):
    """A member of a project."""

    def setUp(self) -> None:
        super().setUp()
        there = self.useFixture(guarded.GuardedService())
        self.keystone = there.keystone
        self.app = there.service.made()
        self.address = self.useFixture(Listener(self.app, threads=2)).address

    def driver(self, name: str) -> OpenStackNodeDriver:
        """Return a driver for a catalog in which the service has this name."""
        self.keystone.services = [
            (kind, kind, self.keystone.url) for kind in ('compute', 'image', 'network', 'volumev3')
        ]
        self.keystone.services.append(('reservation', name, f'{self.address}/v1'))
        driver: Any = get_driver(Provider.OPENSTACK)
        return driver(
            'alice',
            PASSWORD,
            ex_force_auth_url=self.keystone.url,
            ex_force_auth_version='3.x_password',
            ex_tenant_name='blue',
            ex_force_service_region='r',
            api_version='2.2',
        )

    def test_leases_and_hosts(self) -> None:
        body = bodies.lease('mine', '2030-02-01 00:00', '2030-02-02 00:00', bodies.hosts())
        self.keystone.tokens['token-of-alice'] = 'blue'
        made = http.send(self.app, 'POST', '/v1/leases', body, token='token-of-alice')
        self.assertEqual(201, made.status_int, made.text)
        driver = self.driver(self.printed_name())
        (lease,) = driver.ex_list_leases()
        self.assert_has(lease, id=made.json['lease']['id'], name='mine', status='PENDING')
        self.assertEqual('physical:host', lease.reservations[0]['resource_type'])
        (host,) = driver.ex_list_hosts()
        self.assertEqual('compute-1', host.hypervisor_hostname)

    def test_it_finds_no_service_of_another_name(self) -> None:
        """The installation page says so."""
        error = self.assertRaises(LibcloudError, self.driver('climate').ex_list_leases)
        self.assertIn('Could not find specified endpoint', str(error))

    def printed_name(self) -> str:
        """Return the name with which the installation page adds the service."""
        text = (blocks.DOC / 'install/cloud.rst').read_text(encoding='utf-8')
        _, found, rest = text.partition('openstack service create --name ')
        self.assertTrue(found)
        return rest.split()[0]
