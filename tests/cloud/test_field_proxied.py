# SPDX-License-Identifier: Apache-2.0

"""The clients, where all services share a port and each has a path of its own."""

from __future__ import annotations

import uuid
from functools import partial
from typing import Any

from climate.api.http import microversions
from tests.cloud.field import at_once
from tests.cloud.field import connect
from tests.cloud.field import FieldTest
from tests.cloud.field import ONE_HOST
from tests.cloud.field import Shell
from tests.functional.clients import minute


class TestProxied(FieldTest):
    """Nothing but the region, and where Keystone is, differs for a user."""

    # The Climate behind the proxy is that of the first.
    site = 1

    def test_command_lines(self) -> None:
        hers = self.reservations('alice', proxied=True)
        old = Shell(self.cloud, 'alice', 'blazar', proxied=True)
        openstack = Shell(self.cloud, 'alice', 'openstack', proxied=True)
        name = self.name('proxied')
        created = hers.json(
            'lease', 'create', name, '--reservation', ONE_HOST,
            '--start-date', minute(10), '--end-date', minute(20),
        )  # fmt: skip
        listed, found, versions, many = at_once(
            partial(hers.json, 'lease', 'list'),
            partial(old.json, 'lease-show', name),
            partial(openstack.json, 'versions', 'show', '--service', 'reservation'),
            partial(hers.refusal, 'lease', 'set', name, '--end-date', minute(5)),
        )
        self.assertEqual([created['id']], [each['id'] for each in listed])
        self.assertEqual(created['id'], found['id'])
        (version,) = (each for each in versions if each['Region Name'] == self.cloud.proxied_region)
        self.assertEqual(self.cloud.proxied_reservation_url, version['Endpoint'].rstrip('/'))
        self.assertEqual('CURRENT', version['Status'])
        self.assertEqual('ERROR: End date must be later than current and start date', many)
        old.run('lease-delete', created['id'])
        self.assertEqual([], self.alice.leases())

    def test_openstacksdk(self) -> None:
        proxy = connect(self.cloud, 'alice', proxied=True).reservation
        found = proxy.get_endpoint_data()
        self.assertEqual(self.cloud.proxied_reservation_url, found.url.rstrip('/'))
        self.assertEqual(microversions.MAX, found.max_microversion)
        answer = proxy.get('/os-hosts')
        self.assertEqual(
            [self.lent[0]], [each['hypervisor_hostname'] for each in answer.json()['hosts']]
        )
        self.assertTrue(answer.url.startswith(self.cloud.proxied_reservation_url), answer.url)


class TestCatalogueWithoutVersion(FieldTest):
    """Operators of most services leave the version to discovery."""

    site = 1

    def test_clients_that_discover(self) -> None:
        for process, url in (
            ('direct', self.cloud.url('climate-api')),
            ('proxied', self.cloud.proxied_url('climate-api')),
        ):
            region = self.region(process, url)
            listed, proxy = at_once(
                partial(Shell(self.cloud, 'alice', 'blazar', region=region).json, 'host-list'),
                partial(self.proxy_in, region),
            )
            self.assertEqual([self.lent[0]], [each['hypervisor_hostname'] for each in listed])
            self.assertEqual(f'{url}/v1', proxy.get_endpoint().rstrip('/'))
            self.assertEqual(200, proxy.get('/leases').status_code)

    def region(self, name: str, url: str) -> str:
        """Make a region in which the service is at *url*."""
        identity = self.admin.sdk.identity
        region = f'{name}-{uuid.uuid4().hex[:8]}'
        identity.create_region(id=region)
        self.addCleanup(identity.delete_region, region)
        service = next(identity.services(type='reservation'))
        endpoint = identity.create_endpoint(
            service_id=service.id, interface='public', region_id=region, url=url
        )
        self.addCleanup(identity.delete_endpoint, endpoint.id)
        return region

    def proxy_in(self, region: str) -> Any:
        return connect(self.cloud, 'alice', region=region).reservation
