# SPDX-License-Identifier: Apache-2.0

"""The description of a cloud, which ``cloud.json`` stores.

It has everything that tests and other programs need, so that they do not depend on the
layout of the cloud.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import urllib.parse
from typing import Any

from tools.cloud.errors import CloudError
from tools.cloud.ports import HOST

ENV = 'CLIMATE_CLOUD_DIR'
FILE = 'cloud.json'
PASSWORD = 'secret'
REGION = 'RegionOne'
PROXIED_REGION = 'RegionProxied'
MANAGERS = 2
# The number of hosts that are never leased, for servers without a lease.
ORDINARY = 2
# The number of hosts of each site, which also limits the number of sites.
SITE_HOSTS = (3, 2, 2)

# The path prefixes of the services behind the proxy.
PREFIXES = {
    'keystone': '/identity',
    'placement': '/placement',
    'glance': '/image',
    'nova-api': '/compute',
    'neutron': '/networking',
    'cinder-api': '/volume',
    'heat-api': '/heat-api',
    'climate-api': '/reservation',
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cloud:
    """A cloud on this machine."""

    directory: pathlib.Path
    # The port of each service by the name of its process; see tools.cloud.ports.
    ports: dict[str, int]
    # The names of the compute hosts and of their hypervisors.
    hosts: tuple[str, ...]
    # The URL without a database, such as mysql+pymysql://user:password@host:port
    database_server: str
    transport_url: str
    memcached: str
    # The external servers among mariadb, rabbit and memcached.
    foreign: tuple[str, ...] = ()
    password: str = PASSWORD  # of every user
    region: str = REGION
    # The region with the same services behind path prefixes on one port.
    proxied_region: str = PROXIED_REGION
    # Ordinary users and their projects; each is a member of one.
    users: dict[str, str] = dataclasses.field(
        default_factory=lambda: {'alice': 'alpha', 'bob': 'beta'}
    )
    flavor: str = 'm1.tiny'
    image: str = 'tiny'
    network: str = 'shared'
    volume_type: str = 'fake'
    freepool: str = 'freepool'
    # The number of the site; see :meth:`at`.
    site: int = 1

    @property
    def sites(self) -> int:
        """Return the number of sites that have enough hosts."""
        needed = [ORDINARY + sum(SITE_HOSTS[:count]) for count in range(1, len(SITE_HOSTS) + 1)]
        return max(1, sum(each <= len(self.hosts) for each in needed))

    def at(self, site: int) -> Cloud:
        """Return the cloud as seen from a site.

        A site is a separate installation of Climate on the same OpenStack, with its own
        database, users, projects, hosts and region. The attributes for Climate and for
        users are those of the site.
        """
        region = REGION if site == 1 else f'RegionSite{site}'
        return dataclasses.replace(self, site=site, region=region)

    @property
    def site_hosts(self) -> tuple[str, ...]:
        """Return the hosts that can be leased at this site."""
        first = ORDINARY + sum(SITE_HOSTS[: self.site - 1])
        return self.hosts[first : first + SITE_HOSTS[self.site - 1]]

    def account(self, name: str) -> str:
        """Return the name at this site of a user or project of the first site."""
        return name if self.site == 1 or name == 'admin' else f'{name}-{self.site}'

    def project(self, user: str) -> str:
        """Return the project of a user; for unknown users, a project of the same name."""
        return self.account(self.users.get(user, user))

    def of_site(self, name: str) -> str:
        """Return the name of a process of Climate at this site."""
        return name if self.site == 1 else f'{name}@{self.site}'

    def url(self, name: str) -> str:
        """Return the URL of the process *name*, without a path."""
        return f'http://{HOST}:{self.ports[name]}'

    def proxied_url(self, name: str) -> str:
        """Return the URL of the process *name* behind the proxy."""
        return f'{self.url("proxy")}{PREFIXES[name]}'

    @property
    def auth_url(self) -> str:
        """Return the URL of Keystone."""
        return f'{self.url("keystone")}/v3'

    @property
    def proxied_auth_url(self) -> str:
        """Return the URL of Keystone behind the proxy."""
        return f'{self.proxied_url("keystone")}/v3'

    @property
    def reservation_url(self) -> str:
        """Return the URL of Climate."""
        return f'{self.url(self.of_site("climate-api"))}/v1'

    @property
    def proxied_reservation_url(self) -> str:
        """Return the URL of Climate behind the proxy."""
        return f'{self.proxied_url("climate-api")}/v1'

    @property
    def database_url(self) -> str:
        """Return the URL of the database of Climate, with its own user, for SQLAlchemy."""
        server = urllib.parse.urlsplit(self.database_server)
        at = server.netloc.rpartition('@')[2]
        name = self.climate_name.replace('-', '_')
        return f'{server.scheme}://climate:{self.password}@{at}/{name}?{self._database_query}'

    def database(self, name: str) -> str:
        """Return the URL of a database on the server of the cloud."""
        return f'{self.database_server}/{name}?{self._database_query}'

    @property
    def _database_query(self) -> str:
        """Return the options of connections to the database server.

        Without ``ssl_disabled`` PyMySQL loads the certificates of all authorities for each
        connection, although the server of the cloud does not encrypt.
        """
        query = 'charset=utf8mb4'
        return query if 'mariadb' in self.foreign else f'{query}&ssl_disabled=true'

    @property
    def etc(self) -> pathlib.Path:
        """Return the directory of the configuration of all services."""
        return self.directory / 'etc'

    @property
    def data(self) -> pathlib.Path:
        """Return the directory of the data of all services."""
        return self.directory / 'data'

    @property
    def logs(self) -> pathlib.Path:
        """Return the directory of the logs, named ``NAME.log``."""
        return self.directory / 'log'

    @property
    def run(self) -> pathlib.Path:
        """Return the directory of the process ids, in files named ``NAME.pid``."""
        return self.directory / 'run'

    @property
    def bin(self) -> pathlib.Path:
        """Return the directory of the OpenStack commands, including ``openstack``."""
        return self.directory / 'venv' / 'bin'

    @property
    def climate_bin(self) -> pathlib.Path:
        """Return the directory of the commands of the deployed Climate."""
        return self.directory / 'climate' / 'bin'

    @property
    def heat_path(self) -> pathlib.Path:
        """Return the directory that has the package of Climate for Heat, and nothing else."""
        return self.directory / 'heat-path'

    @property
    def climate_conf(self) -> pathlib.Path:
        """Return the configuration file of the deployed Climate."""
        return self.etc / self.climate_name / 'climate.conf'

    @property
    def climate_name(self) -> str:
        """Return the name of the directory and of the database of Climate at this site."""
        return 'climate' if self.site == 1 else f'climate-{self.site}'

    @property
    def openrc(self) -> pathlib.Path:
        """Return the shell script with the login of the administrator."""
        return self.directory / 'openrc'

    def login(
        self, user: str = 'admin', project: str | None = None, *, proxied: bool = False
    ) -> dict[str, str]:
        """Return the environment of a client that logs in as *user*.

        :param project: the project; None for that of the user
        :param proxied: whether to use the proxy, and the region behind it
        """
        return {
            'OS_AUTH_TYPE': 'password',
            'OS_AUTH_URL': self.proxied_auth_url if proxied else self.auth_url,
            'OS_USERNAME': self.account(user),
            'OS_PASSWORD': self.password,
            'OS_PROJECT_NAME': project or self.project(user),
            'OS_USER_DOMAIN_NAME': 'Default',
            'OS_PROJECT_DOMAIN_NAME': 'Default',
            'OS_IDENTITY_API_VERSION': '3',
            'OS_REGION_NAME': self.proxied_region if proxied else self.region,
            'OS_INTERFACE': 'public',
            'OS_COMPUTE_API_VERSION': '2.96',
            'OS_PLACEMENT_API_VERSION': '1.39',
            'OS_VOLUME_API_VERSION': '3.70',
        }

    def as_json(self) -> str:
        """Return the fields, and derived values for programs in other languages."""
        fields: dict[str, Any] = dataclasses.asdict(self)
        fields['directory'] = str(self.directory)
        derived = ('auth_url', 'proxied_auth_url', 'reservation_url', 'proxied_reservation_url')
        paths = ('openrc', 'climate_conf', 'logs', 'bin', 'climate_bin')
        fields |= {name: getattr(self, name) for name in (*derived, 'database_url')}
        fields |= {name: str(getattr(self, name)) for name in paths}
        return json.dumps(fields, indent=2) + '\n'


def directory() -> pathlib.Path:
    """Return the directory of the cloud, from the environment or the default."""
    named = os.environ.get(ENV) or os.environ.get('CLOUD_DIR') or '.cloud'
    return pathlib.Path(named).absolute()


def load(place: pathlib.Path | str | None = None) -> Cloud:
    """Return the cloud in *place*, by default in :func:`directory`.

    :raises CloudError: if there is none
    """
    folder = pathlib.Path(place).absolute() if place else directory()
    try:
        raw = json.loads((folder / FILE).read_text(encoding='utf-8'))
    except (FileNotFoundError, NotADirectoryError):
        raise CloudError(f'there is no cloud in {folder}: make cloud-up creates one') from None
    known = {field.name for field in dataclasses.fields(Cloud)}
    fields = {name: value for name, value in raw.items() if name in known}
    fields['directory'] = folder
    fields['hosts'] = tuple(fields['hosts'])
    fields['foreign'] = tuple(fields['foreign'])
    return Cloud(**fields)


def save(cloud: Cloud) -> None:
    """Write ``cloud.json`` and ``openrc``, each atomically."""
    lines = [f'export {key}={value}' for key, value in cloud.login().items()]
    lines.append(f'export PATH={cloud.bin}:"$PATH"')
    for path, text in (
        (cloud.directory / FILE, cloud.as_json()),
        (cloud.openrc, '\n'.join(lines) + '\n'),
    ):
        fresh = path.with_name(f'{path.name}.new')
        fresh.write_text(text, encoding='utf-8')
        fresh.replace(path)
