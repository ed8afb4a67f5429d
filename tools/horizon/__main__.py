# SPDX-License-Identifier: Apache-2.0

"""``python -m tools.horizon``: uses the panels of blazar-dashboard on the test cloud.

Installs Horizon into the directory of the cloud, runs it with the Keystone and the
Climate of the cloud, drives it with Chromium, and writes pictures to ``doc/source/_static``.
It needs ``make cloud-up``, ``make web-install``, and hosts that are registered.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence

from tools.cloud import install
from tools.cloud import ports
from tools.cloud import services
from tools.cloud import state
from tools.cloud.errors import CloudError
from tools.cloud.programs import ROOT
from tools.cloud.state import Cloud
from tools.web_pictures import FOLDER
from tools.web_pictures import squeezed

PORT = 18999
PACKAGES = ('horizon', 'blazar-dashboard', 'python-memcached')
# Loading the panels and compiling the style sheets takes this long on a busy machine.
PATIENCE = 600.0
SETTINGS = """\
DEBUG = True
ALLOWED_HOSTS = ['127.0.0.1']
SECRET_KEY = 'known: for a cloud on this machine'
OPENSTACK_KEYSTONE_URL = {auth_url!r}
OPENSTACK_API_VERSIONS = {{'identity': 3}}
# A small cache drops sessions.
SESSION_ENGINE = 'django.contrib.sessions.backends.file'
SESSION_FILE_PATH = {sessions!r}
CACHES = {{'default': {{'BACKEND': 'django.core.cache.backends.locmem.LocMemCache'}}}}
LOGGING = {{'version': 1, 'disable_existing_loggers': True}}
"""


def prepare(cloud: Cloud, place: pathlib.Path) -> None:
    """Install Horizon with the panels, and write its settings.

    :raises CloudError: if a package cannot be installed
    """
    log = cloud.logs / 'horizon-install.log'
    install.environment(place, log)
    install.install(place, log, *PACKAGES)
    (library,) = place.glob('lib/python*/site-packages')
    sessions = place / 'sessions'
    sessions.mkdir(exist_ok=True)
    local = library / 'openstack_dashboard' / 'local'
    settings = SETTINGS.format(auth_url=cloud.auth_url, sessions=str(sessions))
    (local / 'local_settings.py').write_text(settings, encoding='utf-8')
    for path in (library / 'blazar_dashboard' / 'enabled').glob('_[0-9]*.py'):
        shutil.copy(path, local / 'enabled')


def serve(cloud: Cloud, place: pathlib.Path) -> subprocess.Popen[bytes]:
    """Start Horizon, and return its process when it responds.

    :raises CloudError: if it does not
    """
    words = ['-W', 'ignore', '-m', 'django', 'runserver', '--noreload', f'{ports.HOST}:{PORT}']
    environment = {**os.environ, 'DJANGO_SETTINGS_MODULE': 'openstack_dashboard.settings'}
    with (cloud.logs / 'horizon.log').open('wb') as log:
        process = subprocess.Popen(
            [place / 'bin' / 'python', *words], cwd=place, env=environment, stdout=log, stderr=log
        )
    deadline = time.monotonic() + PATIENCE
    while not services.replies(f'http://{ports.HOST}:{PORT}/auth/login/', PATIENCE):
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            raise CloudError(f'Horizon does not respond: see {cloud.logs / "horizon.log"}')
        time.sleep(1)
    return process


def main(argv: Sequence[str]) -> int:
    """Do it all; return the exit status."""
    parser = argparse.ArgumentParser(prog='python -m tools.horizon', description=__doc__)
    parser.add_argument('folder', nargs='?', type=pathlib.Path, default=FOLDER)
    folder = parser.parse_args(argv).folder.absolute()
    try:
        cloud = state.load()
        place = cloud.directory / 'horizon'
        prepare(cloud, place)
        process = serve(cloud, place)
    except CloudError as error:
        print(error, file=sys.stderr)
        return 1
    try:
        script, address = ROOT / 'tools/horizon/drive.mjs', f'http://{ports.HOST}:{PORT}'
        words = ['node', str(script), address, str(folder), cloud.password]
        status = subprocess.run(words, cwd=ROOT / 'web', check=False).returncode
    finally:
        process.terminate()
        process.wait()
    for path in folder.glob('horizon-*.png'):
        path.write_bytes(squeezed(path.read_bytes()))
    return status


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
