# SPDX-License-Identifier: Apache-2.0

"""What is known of a cloud, and found again."""

from __future__ import annotations

import dataclasses
import json

import fixtures

from tests import commands
from tests.unit.tools import clouds
from tools.cloud import state
from tools.cloud.errors import CloudError


class StateTest(clouds.CloudTestCase):
    """``cloud.json`` and ``openrc``."""

    def test_what_is_saved_is_loaded(self) -> None:
        cloud = dataclasses.replace(self.cloud, foreign=('mariadb',), password='other')
        state.save(cloud)
        self.assertEqual(cloud, state.load(self.directory))
        self.assertEqual(cloud, state.load(str(self.directory)))

    def test_the_environment_names_it(self) -> None:
        state.save(self.cloud)
        self.useFixture(fixtures.EnvironmentVariable(state.ENV, str(self.directory)))
        self.assertEqual(self.cloud, state.load())

    def test_there_is_none(self) -> None:
        self.assert_error(CloudError, 'make cloud-up', state.load, self.directory / 'elsewhere')

    def test_others_read_it_too(self) -> None:
        state.save(self.cloud)
        stored = json.loads((self.directory / state.FILE).read_text())
        self.assertEqual('http://127.0.0.1:15000/v3', stored['auth_url'])
        self.assertEqual('http://127.0.0.1:15008/identity/v3', stored['proxied_auth_url'])
        self.assertEqual('http://127.0.0.1:15007/v1', stored['reservation_url'])
        self.assertEqual('http://127.0.0.1:15008/reservation/v1', stored['proxied_reservation_url'])
        self.assertEqual(str(self.directory / 'log'), stored['logs'])

    def test_openrc_is_for_a_shell(self) -> None:
        state.save(self.cloud)
        said = commands.captured(
            ['sh', '-c', f'. {self.cloud.openrc}; echo "$OS_AUTH_URL $OS_USERNAME ${{PATH%%:*}}"'],
            check=True,
        )
        self.assertEqual(f'{self.cloud.auth_url} admin {self.cloud.bin}\n', said.stdout)


class LoginTest(clouds.CloudTestCase):
    """Who a client is."""

    def test_projects(self) -> None:
        for user, project in (('admin', 'admin'), ('alice', 'alpha'), ('bob', 'beta')):
            self.assertEqual(project, self.cloud.login(user)['OS_PROJECT_NAME'])
        self.assertEqual('alpha', self.cloud.login('admin', 'alpha')['OS_PROJECT_NAME'])

    def test_through_the_proxy(self) -> None:
        login = self.cloud.login('bob', proxied=True)
        self.assertEqual(self.cloud.proxied_auth_url, login['OS_AUTH_URL'])
        self.assertEqual(self.cloud.proxied_region, login['OS_REGION_NAME'])


class SitesTest(clouds.CloudTestCase):
    """Several Climates on one OpenStack."""

    def cloud_of(self, hosts: int) -> state.Cloud:
        """Return a cloud of so many hosts."""
        return dataclasses.replace(self.cloud, hosts=tuple(f'compute-{n}' for n in range(hosts)))

    def test_as_many_as_there_are_hosts_for(self) -> None:
        found = {hosts: self.cloud_of(hosts).sites for hosts in (1, 2, 5, 6, 7, 9, 50)}
        self.assertEqual({1: 1, 2: 1, 5: 1, 6: 1, 7: 2, 9: 3, 50: 3}, found)

    def test_nothing_is_shared(self) -> None:
        cloud = self.cloud_of(9)
        sites = [cloud.at(number) for number in range(1, cloud.sites + 1)]
        hosts = [host for site in sites for host in site.site_hosts]
        self.assertEqual(list(cloud.hosts[state.ORDINARY :]), hosts)
        for stored in ('region', 'climate_conf', 'database_url', 'reservation_url'):
            self.assertEqual(3, len({getattr(site, stored) for site in sites}), stored)
        for key in ('OS_USERNAME', 'OS_PROJECT_NAME', 'OS_REGION_NAME'):
            self.assertEqual(3, len({site.login('alice')[key] for site in sites}), key)
        self.assertEqual(1, len({site.login('admin')['OS_PROJECT_NAME'] for site in sites}))

    def test_the_first_is_the_cloud(self) -> None:
        cloud = self.cloud_of(9)
        self.assertEqual(cloud, cloud.at(1))
