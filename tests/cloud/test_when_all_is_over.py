# SPDX-License-Identifier: Apache-2.0
"""The whole cloud once more, when all other tests are over.

Each test looks over what is its site's. What it leaves anywhere else, or what
several leave together, is found here: by its name this is the last to run.
"""

from __future__ import annotations

from typing import Any

from tests.cloud.base import CloudTest
from tests.cloud.base import smoke
from tests.cloud.house import open_leases
from tests.cloud.people import Person
from tools.cloud import services

FLAVORS = ['m1.small', 'm1.tiny']
TYPES = ['__DEFAULT__', 'fake']
CUSTOM = 'CUSTOM_RESERVATION_'


class NothingLeftTest(CloudTest):
    """Whatever tests and leases have made is gone."""

    alone = True
    hosts = 0

    @smoke
    def test_nothing_is_left(self) -> None:
        found = {**self.of_climate(), **self.of_nova(), **self.of_others()}
        self.assertEqual({}, {what: left for what, left in found.items() if left})
        self.assertEqual(services.names(self.cloud), self.running())

    def running(self) -> list[str]:
        """Return the processes that run, in the order of the cloud."""
        return [each for each in services.names(self.cloud) if each in self.house.before.processes]

    def of_climate(self) -> dict[str, list[Any]]:
        """Return what is left in each Climate, and in Keystone and Heat of its users."""
        left = {}
        for site in services.sites(self.cloud):
            admin = Person(site, 'admin')
            self.addCleanup(admin.sdk.close)
            left[f'leases of site {site.site}'] = [each['name'] for each in open_leases(admin)]
            left[f'hosts of site {site.site}'] = admin.hosts()
            for user in site.users:
                person = Person(site, user)
                self.addCleanup(person.sdk.close)
                path = f'/OS-TRUST/trusts?trustor_user_id={person.sdk.current_user_id}'
                found = person.sdk.identity.get(path).json()['trusts']
                left[f'trusts of {user} of site {site.site}'] = [each['id'] for each in found]
                left[f'stacks of {user} of site {site.site}'] = [
                    each.name for each in person.sdk.orchestration.stacks()
                ]
        return left

    def of_nova(self) -> dict[str, list[Any]]:
        """Return what is left in Nova and Placement."""
        compute = self.admin.sdk.compute
        classes = self.admin.sdk.placement.get('/resource_classes', microversion='1.2').json()
        return {
            'servers': [each.name for each in compute.servers(all_projects=True)],
            'aggregates': [
                (each.name, each.hosts)
                for each in compute.aggregates()
                if each.name != self.cloud.freepool or each.hosts
            ],
            'flavors': self.beyond(FLAVORS, compute.flavors(is_public=None)),
            'groups': [each.name for each in compute.server_groups(all_projects=True)],
            'hosts that are disabled': [
                each.host
                for each in compute.services(binary='nova-compute')
                if each.status != 'enabled'
            ],
            'resource classes': [
                each['name']
                for each in classes['resource_classes']
                if each['name'].startswith(CUSTOM)
            ],
        }

    def of_others(self) -> dict[str, list[Any]]:
        """Return what is left in Glance, Neutron and Cinder."""
        sdk = self.admin.sdk
        return {
            'images': self.beyond([self.cloud.image], sdk.image.images()),
            'networks': self.beyond([self.cloud.network, 'public'], sdk.network.networks()),
            'routers': [each.name for each in sdk.network.routers()],
            'floating IPs': [each.floating_ip_address for each in sdk.network.ips()],
            'ports': [each.id for each in sdk.network.ports()],
            'volumes': [each.name for each in sdk.block_storage.volumes(all_projects=True)],
            'volume types': self.beyond(TYPES, sdk.block_storage.types(is_public='None')),
        }

    def beyond(self, usual: list[str], found: Any) -> list[str]:
        """Return the names of what is there besides the usual."""
        return sorted({str(each.name) for each in found} - set(usual))
