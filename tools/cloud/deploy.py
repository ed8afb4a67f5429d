# SPDX-License-Identifier: Apache-2.0

"""Installs Climate in the cloud, as an operator would.

It has its own virtual environment, and is not an editable installation, so that the tests
use the files of the package. It is reinstalled when a file has changed.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import shutil
import tempfile
from collections.abc import Iterator
from concurrent import futures

from tools.cloud import install
from tools.cloud import processes
from tools.cloud import services
from tools.cloud.prepare import once
from tools.cloud.programs import ROOT
from tools.cloud.programs import run
from tools.cloud.state import Cloud

# Imports the package as well.
ENGINE = 'heat-engine'
# In addition to the requirements of Climate: a server for its API.
WITH = ('gunicorn',)
# Not the constraints of the OpenStack release, some of which are old.
CONSTRAINTS = 'constraints.txt'
# The sources of the package.
_FILES = ('LICENSE', 'MANIFEST.in', 'README.rst', 'pyproject.toml', 'requirements.txt')
_FILES += ('setup.cfg', 'setup.py')
_FOLDERS = ('climate', 'etc')


def sources(root: pathlib.Path = ROOT) -> Iterator[pathlib.Path]:
    """Yield the files of the clone from which the package is built."""
    yield from (root / name for name in _FILES)
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob('*')):
            if path.is_file() and '__pycache__' not in path.parts:
                yield path


def fingerprint(root: pathlib.Path = ROOT) -> str:
    """Return a hash of the names and contents of :func:`sources`."""
    found = hashlib.sha256(' '.join(WITH).encode())
    for path in (root / CONSTRAINTS, *sources(root)):
        found.update(str(path.relative_to(root)).encode() + b'\0' + path.read_bytes() + b'\0')
    return found.hexdigest()


def climate(cloud: Cloud, root: pathlib.Path = ROOT) -> None:
    """Install the clone, unless its present state is installed already.

    It first stops the processes of Climate and heat-engine, and does not restart them.

    :raises CloudError: if it cannot be built or installed
    """
    place = cloud.directory / 'climate'
    mark = place / 'installed'
    if mark.exists() and mark.read_text(encoding='utf-8') == fingerprint(root):
        return
    mark.unlink(missing_ok=True)
    for name in (*names(cloud), ENGINE):
        processes.stop(cloud, name)
    log = cloud.logs / 'climate-install.log'
    install.environment(place, log)
    with tempfile.TemporaryDirectory() as folder:
        # Build from a copy: a build in the clone leaves files there, and uses those of
        # earlier builds.
        copy = pathlib.Path(folder) / 'climate'
        for path in sources(root):
            target = copy / path.relative_to(root)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        # Outside a clone pbr needs an explicit version.
        os.environ['PBR_VERSION'] = '0.0.1'
        install.install(
            place,
            log,
            f'--constraint={root / CONSTRAINTS}',
            '--reinstall-package=openstack-climate',
            *WITH,
            f'{copy}[mysql,memcached]',
        )
    _plug_into_heat(cloud, place)
    mark.write_text(fingerprint(root), encoding='utf-8')


def _plug_into_heat(cloud: Cloud, place: pathlib.Path) -> None:
    """Put the package, without its requirements, on the path of heat-engine.

    The clients of the cloud share the virtual environment of OpenStack, and must not find
    the commands of Climate there.
    """
    shutil.rmtree(cloud.heat_path, ignore_errors=True)
    cloud.heat_path.mkdir()
    for pattern in ('climate', 'openstack_climate-*.dist-info'):
        (found,) = place.glob(f'lib/python*/site-packages/{pattern}')
        (cloud.heat_path / found.name).symlink_to(found)


def names(cloud: Cloud) -> list[str]:
    """Return the names of the processes of Climate at all sites."""
    return [name for site in services.sites(cloud) for name in services.of_climate(site)]


def tables(cloud: Cloud) -> None:
    """Migrate the databases of Climate at all sites to the schema of the code."""

    def sync(site: Cloud) -> None:
        for words in (('climate-manage', 'db', 'sync'), ('climate-status', 'upgrade', 'check')):
            program, *rest = words
            run(
                cloud.logs / f'{site.climate_name}-sync.log',
                [cloud.climate_bin / program, f'--config-file={site.climate_conf}', *rest],
                services.environment(cloud),
            )

    with futures.ThreadPoolExecutor(cloud.sites) as pool:
        done = [
            pool.submit(once, site, f'{site.climate_name}-tables', sync, fingerprint())
            for site in services.sites(cloud)
        ]
    for each in done:
        each.result()


def redeploy(cloud: Cloud) -> None:
    """Install the present state of the clone, and start or restart the processes."""
    climate(cloud)
    tables(cloud)
    for name in (*names(cloud), ENGINE):
        processes.start(cloud, name)
