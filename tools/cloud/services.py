# SPDX-License-Identifier: Apache-2.0

"""The processes of a cloud: their commands, and how to see that they are ready."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from collections.abc import Sequence

from tools.cloud import ports
from tools.cloud.errors import CloudError
from tools.cloud.ports import HOST
from tools.cloud.state import Cloud
from tools.cloud.state import MANAGERS

# The WSGI application of each OpenStack API.
_APIS = {
    'keystone': 'keystone.wsgi.api',
    'placement': 'placement.wsgi.api',
    'glance': 'glance.wsgi.api',
    'nova-api': 'nova.wsgi.osapi_compute',
    'neutron': 'neutron.wsgi.api',
    'cinder-api': 'cinder.wsgi.api',
    'heat-api': 'heat.wsgi.api',
}
# The configuration files of each program below etc/, which it reads before its settings.
FILES = {
    'keystone': ('keystone/keystone.conf',),
    'placement': ('placement/placement.conf',),
    'nova-api': ('nova/nova.conf',),
    'nova-conductor': ('nova/nova.conf',),
    'nova-scheduler': ('nova/nova.conf',),
    'nova-compute': ('nova/nova.conf',),
    'neutron': ('neutron/neutron.conf', 'neutron/plugins/ml2/ml2_conf.ini'),
    'cinder-api': ('cinder/cinder.conf',),
    'cinder-scheduler': ('cinder/cinder.conf',),
    'cinder-volume': ('cinder/cinder.conf',),
    'cinder-backup': ('cinder/cinder.conf',),
    'heat-api': ('heat/heat.conf',),
    'heat-engine': ('heat/heat.conf',),
    'climate-manager': (),
}
SERVERS = ('mariadb', 'epmd', 'rabbit', 'memcached', 'proxy')
DAEMONS = ('nova-conductor', 'nova-scheduler', 'cinder-scheduler', 'cinder-volume')
DAEMONS += ('cinder-backup', 'heat-engine')
APIS = tuple(_APIS)
WORKERS = 2  # processes of the API of Climate


@dataclasses.dataclass(frozen=True, kw_only=True)
class Command:
    """The command line and environment of a process."""

    argv: tuple[str, ...]
    environment: dict[str, str]


def compute(number: int) -> str:
    """Return the name of the process of a compute host.

    :param number: the number of the host, from 1
    """
    return f'nova-compute-{number}'


def managers(cloud: Cloud | None = None) -> list[str]:
    """Return the names of the managers at the site of *cloud*, or at the first site."""
    found = [f'climate-manager-{number}' for number in range(1, MANAGERS + 1)]
    return [cloud.of_site(name) for name in found] if cloud else found


def of_climate(cloud: Cloud) -> list[str]:
    """Return the names of the processes of Climate at one site."""
    return [cloud.of_site('climate-api'), *managers(cloud)]


def names(cloud: Cloud) -> list[str]:
    """Return the names of all processes of *cloud*, in an order in which they can start."""
    computes = [compute(number) for number in range(1, len(cloud.hosts) + 1)]
    own = [name for name in SERVERS if name not in foreign(cloud)]
    climate = [name for site in sites(cloud) for name in of_climate(site)]
    return [*own, *APIS, *DAEMONS, *computes, *climate]


def sites(cloud: Cloud) -> list[Cloud]:
    """Return *cloud* as seen from each of its sites."""
    return [cloud.at(number) for number in range(1, cloud.sites + 1)]


def foreign(cloud: Cloud) -> set[str]:
    """Return the external servers, including epmd if RabbitMQ is external."""
    return {*cloud.foreign, *(['epmd'] if 'rabbit' in cloud.foreign else [])}


def _program(name: str) -> str:
    """Return the name without the number."""
    return re.sub(r'(-\d+)?(@\d+)?$', '', name)


def _site(cloud: Cloud, name: str) -> Cloud:
    """Return the cloud as seen from the site of the process *name* of Climate."""
    return cloud.at(int(name.partition('@')[2] or 1))


def settings_file(cloud: Cloud, name: str) -> pathlib.Path:
    """Return the file with additional settings of *name*, read after its configuration."""
    if _program(name) == 'climate-api':
        return _site(cloud, name).climate_conf.parent / 'climate.conf.d' / 'settings.conf'
    return cloud.etc / f'{name}.d' / 'settings.conf'


def configure(cloud: Cloud, name: str, settings: str) -> None:
    """Write additional settings of *name*, which it reads at its next start.

    :raises CloudError: if the service reads no further files
    """
    if _program(name) != 'climate-api' and _program(name) not in FILES:
        raise CloudError(f'{name} does not support additional settings')
    path = settings_file(cloud, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(settings, encoding='utf-8')


def options(cloud: Cloud, name: str) -> list[str]:
    """Return the options with the configuration files of *name*."""
    found = [f'--config-file={cloud.etc / file}' for file in FILES[_program(name)]]
    if _program(name) == 'climate-manager':
        found.append(f'--config-file={_site(cloud, name).climate_conf}')
    if name.startswith('nova-compute-'):
        host = cloud.etc / 'nova' / f'{name.removeprefix("nova-")}.conf'
        found.append(f'--config-file={host}')
    folder = settings_file(cloud, name).parent
    folder.mkdir(parents=True, exist_ok=True)
    return [*found, f'--config-dir={folder}']


def environment(cloud: Cloud) -> dict[str, str]:
    """Return the environment of all processes.

    It contains no variables of the caller, such as a proxy, a login or a language.
    """
    return {
        'PATH': f'{cloud.bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        'HOME': str(cloud.data / 'home'),
        'LANG': 'C.UTF-8',
        'OS_GLANCE_CONFIG_DIR': str(cloud.etc / 'glance'),
        'OS_NEUTRON_CONFIG_DIR': str(cloud.etc / 'neutron'),
        'OS_NOVA_CONFIG_DIR': str(cloud.etc / 'nova'),
        'OS_PLACEMENT_CONFIG_DIR': str(cloud.etc / 'placement'),
    }


def command(cloud: Cloud, name: str) -> Command:
    """Return the command of *name*.

    :raises CloudError: if there is no process of that name
    """
    if name not in names(cloud):
        raise CloudError(f'there is no process {name}; there are: {", ".join(names(cloud))}')
    around = environment(cloud)
    if name in SERVERS:
        more, argv = _server(cloud, name)
    elif name in _APIS:
        more, argv = {}, _uwsgi(cloud, name)
    elif _program(name) == 'climate-api':
        folder = _site(cloud, name).climate_conf.parent
        more, argv = {'OS_CLIMATE_CONFIG_DIR': str(folder)}, _gunicorn(cloud, name)
    else:
        if name == 'heat-engine':
            around['PYTHONPATH'] = str(cloud.heat_path)
        place = cloud.climate_bin if name.startswith('climate-') else cloud.bin
        more, argv = {}, [str(place / _program(name)), *options(cloud, name)]
    return Command(argv=tuple(argv), environment=around | more)


def _uwsgi(cloud: Cloud, name: str) -> list[str]:
    # --lazy-apps loads the application after the fork, which does not keep threads.
    argv = [
        str(cloud.bin / 'uwsgi'),
        f'--http-socket={HOST}:{cloud.ports[name]}',
        f'--module={_APIS[name]}',
        f'--venv={cloud.bin.parent}',
        f'--chdir={cloud.data}',
        *_shape(name),
        *('--enable-threads', '--lazy-apps', '--need-app'),
        *('--thunder-lock', '--die-on-term', '--disable-logging', '--buffer-size=65535'),
        '--add-header=Connection: close',
    ]
    # Glance reads no command line.
    return argv if name == 'glance' else [*argv, f'--pyargv={" ".join(options(cloud, name))}']


def _shape(name: str) -> tuple[str, str]:
    # With threads, Keystone confuses about one in several thousand requests: a request
    # with a project-scoped token was refused as if the token were domain-scoped.
    processes, threads = (2, 1) if name == 'keystone' else (1, 4)
    return f'--processes={processes}', f'--threads={threads}'


def _gunicorn(cloud: Cloud, name: str) -> list[str]:
    return [
        str(cloud.climate_bin / 'gunicorn'),
        f'--bind={HOST}:{cloud.ports[name]}',
        f'--workers={WORKERS}',
        '--threads=8',
        '--no-control-socket',
        # Import the deployed Climate, not a clone in the current directory.
        f'--chdir={cloud.data}',
        'climate.wsgi.api:application',
    ]


def _server(cloud: Cloud, name: str) -> tuple[dict[str, str], Sequence[str]]:
    """Return the additional environment of a Debian server, and its command."""
    own = {
        'mariadb': _mariadb,
        'rabbit': _rabbit,
        'epmd': _epmd,
        'memcached': _memcached,
        'proxy': _nginx,
    }
    return own[name](cloud)


def _mariadb(cloud: Cloud) -> tuple[dict[str, str], Sequence[str]]:
    return {}, [
        '/usr/sbin/mariadbd',
        '--no-defaults',
        *(['--user=root'] if os.geteuid() == 0 else []),
        f'--datadir={cloud.data / "mariadb"}',
        f'--socket={cloud.run / "mariadb.sock"}',
        f'--pid-file={cloud.data / "mariadb" / "mariadb.pid"}',
        f'--bind-address={HOST}',
        f'--port={cloud.ports["mariadb"]}',
        '--max-connections=1000',
        # The data need not survive a failure of the machine.
        '--innodb-flush-log-at-trx-commit=0',
        *('--innodb-flush-method=nosync', '--innodb-doublewrite=0'),
        '--innodb-buffer-pool-size=128M',
        '--character-set-server=utf8mb4',
        *('--skip-name-resolve', '--performance-schema=off', '--skip-log-bin'),
    ]


def _rabbit(cloud: Cloud) -> tuple[dict[str, str], Sequence[str]]:
    home = cloud.data / 'rabbit'
    return {
        'HOME': str(home),
        # Replaces the wrapper script by the server, so that there is one process.
        'RUNNING_UNDER_SYSTEMD': '1',
        'RABBITMQ_NODENAME': f'climate-{cloud.ports["rabbit"]}@localhost',
        'RABBITMQ_CONFIG_FILE': str(cloud.etc / 'rabbitmq'),
        'RABBITMQ_ENABLED_PLUGINS_FILE': str(cloud.etc / 'rabbitmq-plugins'),
        'RABBITMQ_MNESIA_BASE': str(home / 'mnesia'),
        'RABBITMQ_LOG_BASE': str(home / 'log'),
        'RABBITMQ_DIST_PORT': str(cloud.ports['rabbit-cluster']),
        'ERL_EPMD_ADDRESS': HOST,
        'ERL_EPMD_PORT': str(cloud.ports['epmd']),
        # Idle schedulers of Erlang sleep instead of busy waiting.
        'RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS': '+S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none'
        ' -kernel inet_dist_use_interface {127,0,0,1}',
    }, ['/usr/lib/rabbitmq/bin/rabbitmq-server']


def _epmd(cloud: Cloud) -> tuple[dict[str, str], Sequence[str]]:
    return {}, ['/usr/bin/epmd', '-address', HOST, '-port', str(cloud.ports['epmd'])]


def _memcached(cloud: Cloud) -> tuple[dict[str, str], Sequence[str]]:
    user = ['-u', 'root'] if os.geteuid() == 0 else []
    port = str(cloud.ports['memcached'])
    return {}, ['/usr/bin/memcached', *user, '-l', HOST, '-p', port, '-m', '64']


def _nginx(cloud: Cloud) -> tuple[dict[str, str], Sequence[str]]:
    return {}, ['/usr/sbin/nginx', '-e', 'stderr', '-c', str(cloud.etc / 'nginx.conf')]


def probe(cloud: Cloud, name: str) -> Callable[[], bool]:
    """Return a function that returns whether *name* is ready.

    A daemon without a port counts as ready. Its heartbeat is checked through its API when
    the whole cloud is up.
    """
    if name in _APIS or _program(name) == 'climate-api':
        # uWSGI and gunicorn listen before the application is loaded.
        return lambda: replies(f'{cloud.url(name)}/')
    if name in cloud.ports:
        return lambda: ports.answers(HOST, cloud.ports[name])
    return lambda: True


def replies(url: str, seconds: float = 30.0) -> bool:
    """Whether *url* responds over HTTP with a status below 500."""
    # Ignore the proxies of the environment, because the service is on this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=seconds):
            return True
    except urllib.error.HTTPError as error:
        return error.code < 500
    except (OSError, ValueError):
        return False
