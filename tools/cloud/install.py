# SPDX-License-Identifier: Apache-2.0

"""Installs Debian packages and the virtual environment of OpenStack."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence

from tools.cloud.errors import CloudError
from tools.cloud.prepare import digest
from tools.cloud.programs import run
from tools.cloud.steps import say

HERE = pathlib.Path(__file__).parent
LOCK = HERE / 'requirements.lock'
PLUGINS = HERE / 'plugins'
OLDEST_PYTHON = (3, 11)

# The required commands, and the Debian packages that contain them.
_COMMANDS = {
    '/usr/sbin/mariadbd': 'mariadb-server',
    '/usr/bin/mariadb': 'mariadb-client',
    '/usr/lib/rabbitmq/bin/rabbitmq-server': 'rabbitmq-server',
    '/usr/bin/memcached': 'memcached',
    '/usr/sbin/nginx': 'nginx-light',
}
# The packages for compiling uWSGI.
_TOOLS = {'gcc': ('gcc', 'libc6-dev'), 'python': ('python3-dev', 'python3-venv')}


def missing_packages(foreign: Sequence[str] = ()) -> list[str]:
    """Return missing Debian packages, except for external servers."""
    lacking = [
        package
        for command, package in _COMMANDS.items()
        if not pathlib.Path(command).exists()
        and package.removesuffix('-server') not in _packages(foreign)
    ]
    if shutil.which('gcc') is None:
        lacking += _TOOLS['gcc']
    if not _can_compile():
        lacking += _TOOLS['python']
    return lacking


def _packages(foreign: Sequence[str]) -> set[str]:
    return {'rabbitmq' if name == 'rabbit' else name for name in foreign}


def _can_compile() -> bool:
    header = pathlib.Path(sysconfig.get_paths()['include']) / 'Python.h'
    return header.exists() and importlib.util.find_spec('ensurepip') is not None


def packages(log: pathlib.Path, foreign: Sequence[str] = ()) -> None:
    """Install missing Debian packages.

    :raises CloudError: if that is not possible, with the command to run as root
    """
    lacking = missing_packages(foreign)
    if not lacking:
        return
    words = ' '.join(lacking)
    if os.geteuid() != 0 or shutil.which('apt-get') is None:
        raise CloudError(f'as root on Debian: apt-get install {words}')
    say(f'  installing {words}')
    env = {
        'PATH': os.environ['PATH'],
        'DEBIAN_FRONTEND': 'noninteractive',
        # Only the programs of the packages are needed, so do not start their servers.
        'RUNLEVEL': '1',
    }
    run(log, ['apt-get', '-q', 'update'], env)
    run(log, ['apt-get', '-q', 'install', '--yes', '--no-install-recommends', *lacking], env)


def wanted() -> str:
    """Return a hash of everything that the virtual environment depends on."""
    return digest(LOCK, *PLUGINS.iterdir()) + f' {sys.version_info[0]}.{sys.version_info[1]}'


def virtualenv(place: pathlib.Path, log: pathlib.Path) -> None:
    """Create the virtual environment of OpenStack, unless it is up to date.

    :raises CloudError: if a package cannot be installed
    """
    mark = place / 'installed'
    if mark.exists() and mark.read_text(encoding='utf-8') == wanted():
        return
    if sys.version_info < OLDEST_PYTHON:
        raise CloudError('Python 3.11 or later is required (PYTHON=...)')
    mark.unlink(missing_ok=True)
    environment(place, log)
    install(place, log, '--requirement', LOCK)
    plugins(place)
    mark.write_text(wanted(), encoding='utf-8')


def environment(place: pathlib.Path, log: pathlib.Path) -> None:
    """Create an empty virtual environment, unless it exists."""
    if not (place / 'bin' / 'python').exists():
        run(log, [sys.executable, '-m', 'venv', place], os.environ)


def install(place: pathlib.Path, log: pathlib.Path, *arguments: str | pathlib.Path) -> None:
    """Install packages into the virtual environment *place*, with uv if available.

    The virtual environment of OpenStack contains uv.

    :raises CloudError: if it fails
    """
    python = place / 'bin' / 'python'
    uv = _uv(place.with_name('venv'), log)
    if uv is None:
        run(log, [python, '-m', 'pip', 'install', '--quiet', *arguments], os.environ)
    else:
        run(log, [uv, 'pip', 'install', '--quiet', f'--python={python}', *arguments], os.environ)


def _uv(place: pathlib.Path, log: pathlib.Path) -> pathlib.Path | None:
    """Return the path of uv in *place* or on ``PATH``; otherwise install it with pip."""
    beside = place / 'bin' / 'uv'
    if beside.exists():
        return beside
    if found := shutil.which('uv'):
        return pathlib.Path(found)
    pinned = re.search(r'^uv==\S+', LOCK.read_text(encoding='utf-8'), re.MULTILINE)
    try:
        pip = [place / 'bin' / 'python', '-m', 'pip', 'install', '--quiet']
        run(log, [*pip, pinned.group() if pinned else 'uv'], os.environ)
    except CloudError:
        return None  # for example on a platform without wheels of uv
    return beside


def plugins(place: pathlib.Path) -> None:
    """Install the drivers of this cloud where Nova, Neutron and Cinder load theirs."""
    found = subprocess.run(
        [place / 'bin' / 'python', '-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'],
        capture_output=True,
        text=True,
        check=True,
    )
    library = pathlib.Path(found.stdout.strip())
    # Nova loads drivers only from its own package.
    shutil.copyfile(PLUGINS / 'nova_driver.py', library / 'nova' / 'virt' / 'climate_fake.py')
    shutil.copyfile(PLUGINS / 'volume_driver.py', library / 'climate_fake_volume.py')
    shutil.copyfile(PLUGINS / 'ml2_driver.py', library / 'climate_fake_ml2.py')
    info = library / 'climate_fake_ml2-1.0.dist-info'
    info.mkdir(exist_ok=True)
    (info / 'METADATA').write_text('Metadata-Version: 2.1\nName: climate-fake-ml2\nVersion: 1.0\n')
    (info / 'entry_points.txt').write_text(
        '[neutron.ml2.mechanism_drivers]\nalwaysbind = climate_fake_ml2:AlwaysBind\n'
    )
