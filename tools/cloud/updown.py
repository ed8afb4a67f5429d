# SPDX-License-Identifier: Apache-2.0

"""Starts a cloud, and stops it."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import os
import pathlib
import shutil
import time
import urllib.parse

from tools.cloud import config
from tools.cloud import deploy
from tools.cloud import install
from tools.cloud import ports
from tools.cloud import prepare
from tools.cloud import processes
from tools.cloud import programs
from tools.cloud import services
from tools.cloud import state
from tools.cloud.errors import CloudError
from tools.cloud.ports import HOST
from tools.cloud.state import Cloud
from tools.cloud.steps import do
from tools.cloud.steps import do_all
from tools.cloud.steps import say
from tools.cloud.steps import Step

_HERE = pathlib.Path(__file__).parent
_DEFAULT_HOSTS = state.ORDINARY + sum(state.SITE_HOSTS)
_MOST_HOSTS = 50
# The age of a heartbeat that still counts, in seconds before the services were checked.
_LEEWAY = 15.0
_STANDARD = {'mariadb': 3306, 'rabbit': 5672, 'memcached': 11211}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
    """The options of a cloud; None keeps the last value, or the default."""

    directory: pathlib.Path
    ports: str | None = None
    hosts: int | None = None
    database_url: str | None = None
    transport_url: str | None = None
    memcached: str | None = None


def plan(options: Options) -> Cloud:
    """Return the requested cloud.

    :raises CloudError: if an option is invalid, or an external server does not respond
    """
    try:
        last: Cloud | None = state.load(options.directory)
    except CloudError:
        last = None
    made = (options.directory / 'data' / 'done' / 'identity').exists()
    base = ports.chosen(options.ports, last.ports['keystone'] if last and made else None)
    table = ports.table(base)
    hosts = options.hosts or (len(last.hosts) if last else _DEFAULT_HOSTS)
    if not 1 <= hosts <= _MOST_HOSTS:
        raise CloudError(f'HOSTS must be between 1 and {_MOST_HOSTS}, got {hosts}')
    named = {
        'mariadb': options.database_url,
        'rabbit': options.transport_url,
        'memcached': options.memcached,
    }
    for name, address in named.items():
        if address:
            _must_answer(name, address)
    own_rabbit = f'rabbit://guest:guest@{HOST}:{table["rabbit"]}/'
    return Cloud(
        directory=options.directory,
        ports=table,
        hosts=tuple(f'compute-{number}' for number in range(1, hosts + 1)),
        database_server=options.database_url or f'mysql+pymysql://root@{HOST}:{table["mariadb"]}',
        transport_url=options.transport_url or own_rabbit,
        memcached=options.memcached or f'{HOST}:{table["memcached"]}',
        foreign=tuple(name for name, address in named.items() if address),
    )


def _must_answer(name: str, address: str) -> None:
    url = urllib.parse.urlsplit(address if '//' in address else f'//{address}')
    host, port = url.hostname or HOST, url.port or _STANDARD[name]
    if not ports.answers(host, port):
        raise CloudError(f'{name} does not respond at {host}:{port}: start it, or unset its URL')


def up(options: Options) -> Cloud:
    """Install and start the parts of the requested cloud that are missing.

    :raises CloudError: if that fails
    """
    began = time.monotonic()
    cloud = plan(options)
    for folder in (cloud.run / 'lock', cloud.run / 'nginx', cloud.logs, cloud.data / 'home'):
        folder.mkdir(parents=True, exist_ok=True)
    missing = [name for name in services.names(cloud) if not processes.alive(cloud, name)]
    ports.refuse_taken({name: cloud.ports[name] for name in missing if name in cloud.ports})
    for name in set(processes.running(cloud)) - set(services.names(cloud)):
        processes.stop(cloud, name)  # hosts of a larger cloud
    state.save(cloud)
    say(f'A cloud of {len(cloud.hosts)} hosts in {cloud.directory}, ports from {base_of(cloud)}')
    do_all(_installed(cloud))
    do(Step(name='configuration', action=lambda: config.write(cloud)))
    do_all(steps(cloud))
    _check(cloud)
    say(f'The cloud is up after {time.monotonic() - began:.1f} s')
    return cloud


def installed(options: Options) -> None:
    """Install all requirements of the cloud, and start nothing.

    The installation mostly waits for the network and the disk, so other work can use the
    processors meanwhile.

    :raises CloudError: if that fails
    """
    cloud = plan(options)
    cloud.logs.mkdir(parents=True, exist_ok=True)
    climate = Step(name='Climate', action=lambda: deploy.climate(cloud), needs=('OpenStack',))
    do_all([*_installed(cloud), climate])


def _installed(cloud: Cloud) -> list[Step]:
    """Return the steps that install OpenStack and the Debian servers."""
    packages, place = cloud.logs / 'packages.log', cloud.directory / 'venv'
    log = cloud.logs / 'install.log'
    return [
        Step(name='packages', action=lambda: install.packages(packages, cloud.foreign)),
        # Some packages are compiled, and need the compiler.
        Step(name='OpenStack', action=lambda: install.virtualenv(place, log), needs=('packages',)),
    ]


def base_of(cloud: Cloud) -> int:
    """Return the first port of *cloud*."""
    return min(cloud.ports.values())


def steps(cloud: Cloud) -> list[Step]:
    """Return the steps that start an installed and configured cloud.

    Long steps, and those that many others need, come first.
    """
    return [
        *_servers(cloud),
        *_keystone(cloud),
        *(_tables(cloud, name) for name in prepare.TABLES),
        *_climate(cloud),
        *_openstack(cloud),
        _ready(cloud),
    ]


def _start(cloud: Cloud, name: str, *needs: str) -> Step:
    return Step(name=name, action=lambda: processes.start(cloud, name), needs=needs)


def _tables(cloud: Cloud, name: str) -> Step:
    action = functools.partial(prepare.once, cloud, f'{name}-tables', prepare.TABLES[name])
    return Step(name=f'{name} tables', action=action, needs=('databases',))


def _openstack(cloud: Cloud) -> list[Step]:
    """Return the steps that start the OpenStack services, except Keystone."""
    return [
        _start(cloud, 'placement', 'placement tables', 'memcached'),
        # Conductor, scheduler and computes read the catalog when they start, and exit if
        # their user does not exist yet.
        _start(cloud, 'nova-conductor', 'nova tables', 'rabbit', 'users and catalogue'),
        _start(cloud, 'nova-scheduler', 'nova tables', 'rabbit', 'users and catalogue'),
        *(
            _start(cloud, services.compute(number), *('placement', 'nova-conductor'))
            for number in range(1, len(cloud.hosts) + 1)
        ),
        _start(cloud, 'nova-api', 'nova tables', 'rabbit', 'memcached'),
        _start(cloud, 'neutron', 'neutron tables', 'rabbit', 'memcached'),
        _start(cloud, 'glance', 'glance tables', 'memcached'),
        _start(cloud, 'cinder-api', 'cinder tables', 'rabbit', 'memcached'),
        _start(cloud, 'cinder-scheduler', 'cinder tables', 'rabbit'),
        _start(cloud, 'cinder-volume', 'cinder tables', 'rabbit'),
        _start(cloud, 'cinder-backup', 'cinder tables', 'rabbit'),
        _start(cloud, 'heat-api', 'heat tables', 'rabbit', 'memcached'),
        _start(cloud, 'heat-engine', 'heat tables', 'rabbit', 'Climate'),
    ]


def _climate(cloud: Cloud) -> list[Step]:
    """Return the steps that install Climate and start it."""
    needs = ('Climate tables', 'rabbit', 'memcached', 'users and catalogue')
    return [
        Step(name='Climate', action=lambda: deploy.climate(cloud)),
        Step(
            name='Climate tables',
            action=lambda: deploy.tables(cloud),
            needs=('databases', 'Climate'),
        ),
        *(_start(cloud, name, *needs) for name in deploy.names(cloud)),
    ]


def _servers(cloud: Cloud) -> list[Step]:
    """Return the steps that start the Debian servers."""

    def start(name: str) -> None:
        if name not in services.foreign(cloud):
            processes.start(cloud, name)

    def mariadb() -> None:
        if 'mariadb' not in cloud.foreign:
            prepare.once(cloud, 'mariadb', prepare.mariadb)
            processes.start(cloud, 'mariadb')

    def rabbit() -> None:
        if 'rabbit' not in cloud.foreign:
            (cloud.data / 'rabbit').mkdir(exist_ok=True)
            processes.start(cloud, 'epmd')
            processes.start(cloud, 'rabbit')

    def databases() -> None:
        prepare.once(cloud, 'databases', prepare.databases)
        prepare.once(cloud, 'climate-database', prepare.climate_database, str(cloud.sites))

    return [
        Step(name='mariadb', action=mariadb),
        Step(name='rabbit', action=rabbit),
        Step(name='memcached', action=functools.partial(start, 'memcached')),
        Step(name='proxy', action=functools.partial(start, 'proxy')),
        Step(name='databases', action=databases, needs=('mariadb',)),
    ]


def _keystone(cloud: Cloud) -> list[Step]:
    """Return the steps that start Keystone, and create its users and catalog."""
    sources = (_HERE / 'inside' / 'identity.py', _HERE / 'ports.py', _HERE / 'state.py')
    version = f'{prepare.digest(*sources)} {cloud.sites}'

    def identity(_: Cloud) -> None:
        programs.run_inside(cloud, 'identity')

    return [
        Step(
            name='keystone tables',
            action=functools.partial(prepare.once, cloud, 'keystone-tables', prepare.keystone),
            needs=('databases',),
        ),
        Step(
            name='keystone',
            action=functools.partial(processes.start, cloud, 'keystone'),
            needs=('keystone tables', 'memcached'),
        ),
        Step(
            name='users and catalogue',
            action=functools.partial(prepare.once, cloud, 'identity', identity, version),
            needs=('keystone',),
        ),
    ]


def _ready(cloud: Cloud) -> Step:
    # On the clock of the machine, which the records of Nova use as well.
    since = time.time() - _LEEWAY
    return Step(
        name='all at work',
        action=lambda: programs.run_inside(cloud, 'ready', str(since)),
        needs=tuple(
            name for name in services.names(cloud) if name not in ('epmd', *services.foreign(cloud))
        ),
    )


def _check(cloud: Cloud) -> None:
    """Check that all processes still run.

    :raises CloudError: if one has exited, with the end of its log
    """
    for name in services.names(cloud):
        if not processes.alive(cloud, name):
            raise CloudError(f'{name} exited unexpectedly\n{processes.tail(cloud, name)}')


def down(cloud: Cloud, *, wipe: bool = False) -> None:
    """Stop all processes; with *wipe*, also delete all data.

    The installation stays.

    :raises CloudError: if the databases on an external server cannot be dropped
    """
    began = time.monotonic()
    present = processes.running(cloud)
    last = [name for name in services.SERVERS if name in present]
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        list(pool.map(lambda name: processes.stop(cloud, name), set(present) - set(last)))
    if wipe:
        prepare.forget_databases(cloud)
    # RabbitMQ unregisters from epmd when it stops, so epmd stops after it.
    for name in sorted(last, key=lambda each: each == 'epmd'):
        processes.stop(cloud, name)
    if wipe:
        for path in (cloud.data, cloud.run, cloud.logs, cloud.etc):
            shutil.rmtree(path, ignore_errors=True)
        for path in (cloud.openrc, cloud.directory / state.FILE):
            path.unlink(missing_ok=True)
    say(f'{len(present)} processes stopped after {time.monotonic() - began:.1f} s')


def options(directory: pathlib.Path, base: str | None, hosts: int | None) -> Options:
    """Return the options from the command line and the environment."""
    return Options(
        directory=directory,
        ports=base,
        hosts=hosts,
        database_url=os.environ.get('CLOUD_DATABASE_URL') or None,
        transport_url=os.environ.get('CLOUD_TRANSPORT_URL') or None,
        memcached=os.environ.get('CLOUD_MEMCACHED') or None,
    )
