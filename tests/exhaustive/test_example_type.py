# SPDX-License-Identifier: Apache-2.0

"""The resource type of the page on plugins, installed, tested and booked as printed."""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap

from climate.cloud.base import Flavor
from climate.simulator import SimulatedCloud
from tests import commands
from tests.architecture import ROOT
from tests.base import FolderCase
from tests.functional import http
from tests.functional.fixtures import Service
from tests.narrowing import present

PAGE = ROOT / 'doc' / 'source' / 'contributor' / 'plugins.rst'
MOST_LINES = 60
_BLOCK = re.compile(
    r'^\.\. code-block:: \w+\n   :caption: (?P<name>\S+)\n\n(?P<text>(?:   .*\n|\n)+)', re.MULTILINE
)


def printed() -> dict[str, str]:
    """Return the files that the page prints, by name."""
    found = _BLOCK.finditer(PAGE.read_text(encoding='utf-8'))
    return {match['name']: textwrap.dedent(match['text']).strip() + '\n' for match in found}


class TestExampleType(FolderCase):
    """A package with a resource type, as a developer makes it."""

    def setUp(self) -> None:
        super().setUp()
        self.files = printed()
        for name, text in self.files.items():
            (self.folder / name).write_text(text)

    def run_here(self, *command: str, **environment: str) -> str:
        """Run a command next to the files; return what it prints."""
        ran = commands.captured(
            [os.path.abspath(sys.executable), *command],
            cwd=self.folder,
            env={**os.environ, **environment},
            timeout=300,
        )
        self.assertEqual(0, ran.returncode, ran.stdout + ran.stderr)
        return ran.stdout + ran.stderr

    def test_it_is_short(self) -> None:
        lines = sum(
            len(self.files[name].splitlines()) for name in ('flavor_access.py', 'pyproject.toml')
        )
        self.assertLessEqual(lines, MOST_LINES)

    def test_installed_tested_and_booked(self) -> None:
        site = self.folder / 'site'
        pip = ('-m', 'pip', '--quiet', '--disable-pip-version-check', 'install')
        self.run_here(*pip, '--no-deps', '--no-build-isolation', '--target', str(site), '.')
        (self.folder / 'flavor_access.py').unlink()
        path = os.pathsep.join([str(site), str(ROOT)])
        said = self.run_here('-m', 'unittest', 'test_flavor_access', PYTHONPATH=path)
        self.assertRegex(said, r'Ran 1[0-9] tests')
        booked = json.loads(self.run_here('-c', _BOOK, PYTHONPATH=path))
        self.assertEqual({'access': ['blue'], 'flavors': ['gpu-1']}, booked)


# In a process of its own, where the package is installed.
_BOOK = """
import json
from tests.exhaustive import test_example_type
print(json.dumps(test_example_type.book()))
"""


def book() -> dict[str, list[str]]:
    """Book the type through the API and let the lease start; return who may use what."""
    # Here and not above: the package is not installed where the tests are.
    from oslo_config import cfg

    from climate.plugins import loading

    names = present(re.search(r'resource_types = (.*)', printed()['climate.conf']))
    conf = cfg.ConfigOpts()
    kinds = [name.strip() for name in names[1].split(',')]
    with Service(hosts=0, types=[loading.load(kinds[1:], conf)['example:flavor']]) as service:
        _furnish(service.cloud)
        body = {'name': 'gpu-1', 'resource_type': 'example:flavor'}
        answer = http.send(service.app, 'POST', '/v1/resources', body, version='1.2')
        assert answer.status_int == 201, answer.text
        lease = {
            **http.LEASE,
            'start_date': 'now',
            'events': [],
            'reservations': [{'resource_type': 'example:flavor', 'amount': 1}],
        }
        answer = http.send(service.app, 'POST', '/v1/leases', lease, token=http.MEMBER)
        assert answer.status_int == 201, answer.text
        service.work()
        path = f'/v1/leases/{answer.json["lease"]["id"]}'
        shown = http.send(service.app, 'GET', path, token=http.MEMBER).json['lease']
        access = service.cloud.compute.list_flavor_access('gpu-1')
        return {'access': sorted(access), 'flavors': shown['reservations'][0]['flavors']}


def _furnish(cloud: SimulatedCloud) -> None:
    cloud.compute.create_flavor(
        Flavor(id='gpu-1', name='gpu-1', vcpus=4, memory_mb=8192, disk_gb=20, public=False)
    )
