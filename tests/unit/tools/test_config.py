# SPDX-License-Identifier: Apache-2.0

"""What services are configured with, and called with."""

from __future__ import annotations

import configparser
import dataclasses
import pathlib

from tests.unit.tools import clouds
from tools.cloud import config
from tools.cloud import services
from tools.cloud.errors import CloudError


def _read(text: str) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    return parser


class ConfigTest(clouds.CloudTestCase):
    """Every template, rendered."""

    def setUp(self) -> None:
        super().setUp()
        for service, files in config.SHIPPED.items():
            for file in files:
                path = self.directory / 'venv' / 'etc' / service / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text('')
        config.write(self.cloud)

    def _of(self, place: str) -> configparser.RawConfigParser:
        return _read((self.cloud.etc / place).read_text())

    def test_every_template_is_used(self) -> None:
        there = {path.name for path in config.TEMPLATES.iterdir()}
        self.assertEqual(
            there, {*config.PLACES, *config.CLIMATE, 'compute.conf', 'nginx-location.conf'}
        )

    def test_every_file_that_is_named_is_there(self) -> None:
        for name in services.names(self.cloud):
            if name.split('-')[0] in ('nova', 'cinder', 'heat', 'neutron', 'climate'):
                for option in services.command(self.cloud, name).argv:
                    for word in option.removeprefix('--pyargv=').split():
                        flag, _, path = word.partition('=')
                        if flag in ('--config-file', '--config-dir'):
                            self.assertTrue(pathlib.Path(path).exists(), word)

    def test_each_service_logs_in_as_itself(self) -> None:
        for user, place in (
            ('nova', 'nova/nova.conf'),
            ('cinder', 'cinder/cinder.conf'),
            ('climate', 'climate/climate.conf'),
        ):
            section = self._of(place)['keystone_authtoken']
            self.assertEqual(user, section['username'])
            self.assertEqual(self.cloud.auth_url, section['auth_url'])
            self.assertEqual(self.cloud.memcached, section['memcached_servers'])

    def test_servers_that_others_started(self) -> None:
        cloud = dataclasses.replace(
            self.cloud,
            database_server='mysql+pymysql://os:pw@db:3306',
            transport_url='rabbit://os:pw@mq:5672/',
            foreign=('mariadb', 'rabbit'),
        )
        config.write(cloud)
        conf = self._of('climate/climate.conf')
        found = conf['database']['connection']
        self.assertEqual('mysql+pymysql://climate:secret@db:3306/climate?charset=utf8mb4', found)
        self.assertEqual('rabbit://os:pw@mq:5672/', conf['DEFAULT']['transport_url'])
        for name in ('mariadb', 'rabbit', 'epmd'):
            self.assertNotIn(name, services.names(cloud))

    def test_each_host_has_a_name_and_a_place(self) -> None:
        found = [self._of(f'nova/compute-{number}.conf')['DEFAULT'] for number in (1, 2)]
        self.assertEqual(['compute-1', 'compute-2'], [each['host'] for each in found])
        self.assertEqual(2, len({each['state_path'] for each in found}))

    def test_each_site_has_a_climate_of_its_own(self) -> None:
        cloud = dataclasses.replace(self.cloud, hosts=tuple(map(str, range(9))))
        config.write(cloud)
        names = []
        for site in services.sites(cloud):
            conf = _read(site.climate_conf.read_text())
            names.append((conf['database']['connection'], conf['manager']['rpc_topic']))
            for name in services.of_climate(site):
                command = services.command(cloud, name)
                said = ' '.join([*command.argv, *command.environment.values()])
                self.assertIn(f'{site.climate_conf.parent}', said.replace('/climate.conf', ''))
        self.assertEqual(3, len({database for database, _ in names}))
        self.assertEqual(3, len({topic for _, topic in names}))
        self.assertEqual(3, len({site.reservation_url for site in services.sites(cloud)}))

    def test_proxy_knows_every_service(self) -> None:
        text = (self.cloud.etc / 'nginx.conf').read_text()
        for name in (*services.APIS, 'climate-api'):
            self.assertIn(f'proxy_pass {self.cloud.url(name)}/;', text)
        self.assert_contains(text, 'X-Forwarded-Prefix /reservation;', '$http_host')


class SettingsTest(clouds.CloudTestCase):
    """Settings of one process alone."""

    def test_read_after_its_own_configuration(self) -> None:
        services.configure(self.cloud, 'nova-scheduler', '[filter_scheduler]\n')
        argv = services.command(self.cloud, 'nova-scheduler').argv
        folder = self.cloud.etc / 'nova-scheduler.d'
        self.assertEqual(f'--config-dir={folder}', argv[-1])
        self.assertEqual('[filter_scheduler]\n', (folder / 'settings.conf').read_text())

    def test_of_the_api_of_climate(self) -> None:
        services.configure(self.cloud, 'climate-api', '[DEFAULT]\ndebug = true\n')
        command = services.command(self.cloud, 'climate-api')
        folder = pathlib.Path(command.environment['OS_CLIMATE_CONFIG_DIR'])
        self.assertIn('debug', (folder / 'climate.conf.d' / 'settings.conf').read_text())

    def test_of_one_that_reads_none(self) -> None:
        for name in ('glance', 'mariadb'):
            self.assertRaises(CloudError, services.configure, self.cloud, name, '')

    def test_hosts_beyond_nine(self) -> None:
        hosts = tuple(f'compute-{number}' for number in range(1, 13))
        argv = services.command(
            dataclasses.replace(self.cloud, hosts=hosts), 'nova-compute-12'
        ).argv
        self.assertIn(f'--config-file={self.cloud.etc}/nova/compute-12.conf', argv)
