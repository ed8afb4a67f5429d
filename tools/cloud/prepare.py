# SPDX-License-Identifier: Apache-2.0

"""Prepares a cloud once: databases and their tables, keys, the first user."""

from __future__ import annotations

import getpass
import grp
import hashlib
import os
import pathlib
import subprocess
import urllib.parse
from collections.abc import Callable

from tools.cloud import services
from tools.cloud.errors import CloudError
from tools.cloud.programs import run
from tools.cloud.programs import run_in
from tools.cloud.state import Cloud

DATABASES = (
    *('keystone', 'placement', 'glance', 'nova_api', 'nova', 'nova_cell0'),
    *('neutron', 'cinder', 'heat'),
)


def once(cloud: Cloud, name: str, action: Callable[[Cloud], None], *versions: str) -> None:
    """Do *action*, unless it was done for this cloud with the same *versions*."""
    mark = cloud.data / 'done' / name
    stamp = hashlib.sha256('\n'.join((cloud.database_server, *versions)).encode()).hexdigest()
    if mark.exists() and mark.read_text(encoding='utf-8') == stamp:
        return
    action(cloud)
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.write_text(stamp, encoding='utf-8')


def mariadb(cloud: Cloud) -> None:
    """Create the data directory of a database server whose root has no password."""
    place = cloud.data / 'mariadb'
    user = ['--user=root'] if os.geteuid() == 0 else []
    run(
        cloud.logs / 'mariadb-install.log',
        [
            '/usr/bin/mariadb-install-db',
            '--no-defaults',
            f'--datadir={place}',
            '--auth-root-authentication-method=normal',
            '--skip-test-db',
            *user,
        ],
        services.environment(cloud),
    )


def databases(cloud: Cloud) -> None:
    """Create an empty database for each service.

    :raises CloudError: if an external server already has one of these databases
    """
    if 'mariadb' in cloud.foreign:
        wanted = {*DATABASES, *climate_databases(cloud)}
        present = set(sql(cloud, 'SHOW DATABASES').split()) & wanted
        if present:
            raise CloudError(f'the server already has a database {min(present)}')
    sql(cloud, ''.join(f'CREATE DATABASE {name} CHARACTER SET utf8mb3;' for name in DATABASES))


def climate_database(cloud: Cloud) -> None:
    """Create the databases of Climate, and their user."""
    makes = (
        f'CREATE DATABASE IF NOT EXISTS {name} CHARACTER SET utf8mb4;'
        f'GRANT ALL ON {name}.* TO climate;'
        for name in climate_databases(cloud)
    )
    user = f"CREATE USER IF NOT EXISTS climate IDENTIFIED BY '{cloud.password}';"
    sql(cloud, user + ''.join(makes))


def climate_databases(cloud: Cloud) -> list[str]:
    """Return the names of the databases of Climate, one for each site."""
    return [site.climate_name.replace('-', '_') for site in services.sites(cloud)]


def forget_databases(cloud: Cloud) -> None:
    """Drop the databases that :func:`databases` created on an external server."""
    if 'mariadb' in cloud.foreign and (cloud.data / 'done' / 'databases').exists():
        every = (*DATABASES, *climate_databases(cloud))
        drops = (f'DROP DATABASE IF EXISTS {name};' for name in every)
        sql(cloud, ''.join(drops) + 'DROP USER IF EXISTS climate;')


def sql(cloud: Cloud, statements: str) -> str:
    """Run *statements* on the database server of the cloud, and return the output.

    :raises CloudError: if a statement fails
    """
    url = urllib.parse.urlsplit(cloud.database_server)
    argv = [
        *('mariadb', '--no-defaults', '--protocol=tcp', '--batch', '--skip-column-names'),
        f'--host={url.hostname}',
        f'--port={url.port or 3306}',
        f'--user={urllib.parse.unquote(url.username or "root")}',
    ]
    # Not in the arguments, which all users of the machine can read.
    env = services.environment(cloud) | {'MYSQL_PWD': urllib.parse.unquote(url.password or '')}
    ended = subprocess.run(
        argv, env=env, input=statements, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        raise CloudError(f'the database refused: {ended.stderr.strip()}')
    return ended.stdout


def _config(cloud: Cloud, *files: str) -> list[str]:
    return [f'--config-file={cloud.etc / file}' for file in files]


def keystone(cloud: Cloud) -> None:
    """Create the tables and keys of Keystone, the administrator, and its endpoints."""
    conf = _config(cloud, 'keystone/keystone.conf')
    who = getpass.getuser()
    owner = [f'--keystone-user={who}', f'--keystone-group={_group()}']
    for keys in ('fernet', 'credential'):
        (cloud.data / keys).mkdir(mode=0o700, parents=True, exist_ok=True)
    run_in(cloud, 'keystone-sync', 'keystone-manage', *conf, 'db_sync')
    run_in(cloud, 'keystone-sync', 'keystone-manage', *conf, 'fernet_setup', *owner)
    run_in(cloud, 'keystone-sync', 'keystone-manage', *conf, 'credential_setup', *owner)
    run_in(
        cloud,
        'keystone-sync',
        'keystone-manage',
        *conf,
        'bootstrap',
        f'--bootstrap-password={cloud.password}',
        f'--bootstrap-region-id={cloud.region}',
        *(f'--bootstrap-{each}-url={cloud.auth_url}' for each in ('admin', 'internal', 'public')),
    )


def _group() -> str:
    return grp.getgrgid(os.getegid()).gr_name


def nova(cloud: Cloud) -> None:
    """Create the tables of Nova and its two cells."""
    program = ('nova-sync', 'nova-manage', *_config(cloud, 'nova/nova.conf'))
    run_in(cloud, *program, 'api_db', 'sync')
    cell0 = f'--database_connection={cloud.database("nova_cell0")}'
    run_in(cloud, *program, 'cell_v2', 'map_cell0', cell0)
    run_in(cloud, *program, 'db', 'sync')
    run_in(
        cloud,
        *program,
        *('cell_v2', 'create_cell', '--name=cell1'),
        f'--database_connection={cloud.database("nova")}',
        f'--transport-url={cloud.transport_url}',
    )


def placement(cloud: Cloud) -> None:
    """Create Placement's tables."""
    conf = _config(cloud, 'placement/placement.conf')
    run_in(cloud, 'placement-sync', 'placement-manage', *conf, 'db', 'sync')


def glance(cloud: Cloud) -> None:
    """Create Glance's tables."""
    for place in ('images', 'tasks', 'staging'):
        (cloud.data / 'glance' / place).mkdir(parents=True, exist_ok=True)
    conf = _config(cloud, 'glance/glance-api.conf')
    run_in(cloud, 'glance-sync', 'glance-manage', *conf, 'db_sync')


def neutron(cloud: Cloud) -> None:
    """Create Neutron's tables."""
    conf = _config(cloud, 'neutron/neutron.conf', 'neutron/plugins/ml2/ml2_conf.ini')
    run_in(cloud, 'neutron-sync', 'neutron-db-manage', *conf, 'upgrade', 'heads')


def cinder(cloud: Cloud) -> None:
    """Create Cinder's tables."""
    conf = _config(cloud, 'cinder/cinder.conf')
    run_in(cloud, 'cinder-sync', 'cinder-manage', *conf, 'db', 'sync')


def heat(cloud: Cloud) -> None:
    """Create Heat's tables."""
    run_in(cloud, 'heat-sync', 'heat-manage', *_config(cloud, 'heat/heat.conf'), 'db_sync')


TABLES: dict[str, Callable[[Cloud], None]] = {
    'nova': nova,
    'placement': placement,
    'neutron': neutron,
    'glance': glance,
    'cinder': cinder,
    'heat': heat,
}


def digest(*paths: pathlib.Path) -> str:
    """Return a hash of the names and contents of files."""
    found = hashlib.sha256()
    for path in sorted(paths):
        found.update(path.name.encode() + b'\0' + path.read_bytes() + b'\0')
    return found.hexdigest()
