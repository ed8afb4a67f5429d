# SPDX-License-Identifier: Apache-2.0

"""Runs what pages print, their commands and bodies, page by page, on one service."""

from __future__ import annotations

import contextlib
import pathlib
import sys
import tempfile
from collections.abc import Callable
from collections.abc import Iterable
from typing import Any
from typing import ClassVar

import fixtures

from climate.db.encryption import key_files
from tests import commands
from tests.architecture import ROOT
from tests.base import TestCase
from tests.functional import processes
from tests.functional.processes import Standalone
from tests.functional.processes import until
from tests.printed import blocks
from tests.printed import helpers
from tests.printed.marks import Where
from tests.printed.shell import Place
from tests.printed.shell import Shell

# What pages call, and the modules of their scripts; those after them are only loaded.
MAINS = {
    **commands.CLIENTS,
    'climate-manage': 'climate.cmd.manage',
    'climate-standalone': 'climate.cmd.standalone',
    'climate-status': 'climate.cmd.status',
    'climate-watch': 'climate.cmd.watch',
    'oslo-config-generator': 'oslo_config.generator',
    # Runs the modules of its arguments; this one is loaded first.
    'python': 'climate.simulator.cli',
}
TOKEN = 'demo:demo:admin'
# Those that people read first; tests/exhaustive/test_pages.py has all others.
FIRST = (
    'README.rst',
    'doc/source/install/quick-start.rst',
    'doc/source/user/tasks.rst',
    'doc/source/user/servers.rst',
)
# The page that sets a shell up for the others, and those that do so themselves.
SHELL = 'doc/source/user/shell.rst'
ALONE = (SHELL, 'README.rst', 'doc/source/install/quick-start.rst')
# What pages may change of a resource that is there before and after.
STATE = ('properties', 'disabled')
CONFIGURATION = """
[DEFAULT]
cloud = simulated
transport_url = fake://
[simulator]
state_dir = {state}/cloud
[database]
connection = sqlite:///{state}/climate.sqlite
"""


def all_pages() -> list[str]:
    """Return the pages that have something to run here; reading them takes seconds."""
    return sorted(
        {
            block.page
            for block in blocks.blocks()
            if block.mark and block.mark.where is Where.STANDALONE
        }
    )


class Service:
    """The one service, and what runs the commands."""

    def __init__(self, folder: pathlib.Path, stack: contextlib.ExitStack) -> None:
        self.folder = folder
        self.standalone = Standalone(hosts=4, state=folder / 'state')
        self.commands = commands.Commands(
            pathlib.Path(sys.executable), MAINS, processes.clean_environment()
        )
        stack.callback(self.commands.close)
        self.standalone.setUp()
        stack.callback(self.standalone.cleanUp)
        self.configuration = folder / 'climate.conf'
        self.configuration.write_text(CONFIGURATION.format(state=self.standalone.state))
        self.resources = self.states()
        self.types = self.ids('resource-types')

    def shell(self, folder: pathlib.Path) -> Shell:
        """Return a shell in a folder as a clone of the project is, after make run."""
        (folder / '.state').symlink_to(self.standalone.state)
        # So that an answer that is no success fails the command.
        (folder / '.curlrc').write_text('fail-with-body\nno-progress-meter\n')
        (folder / '.climate').mkdir()
        (folder / '.climate' / 'climate.conf').symlink_to(self.configuration)
        # The key of the service, with which pages before this one may have stored secrets.
        (folder / '.climate' / key_files.NAME).symlink_to(self.standalone.state / key_files.NAME)
        endpoint = self.standalone.endpoint
        address = endpoint.removesuffix('/v1')
        place = Place(
            environment={
                'HOME': str(folder),
                'LANG': 'C.UTF-8',
                'PYTHONWARNINGS': 'ignore',
                'PYTHON': sys.executable,
                'SOURCE': str(ROOT),
            },
            commands=self.commands,
            programs=tuple(MAINS),
            words={
                'http://127.0.0.1:1234': address,
                'http://controller:1234': address,
                '/etc/climate/climate.conf': str(self.configuration),
            },
            helped={'CLIMATE': endpoint, 'TOKEN': TOKEN},
            active=False,
        )
        return Shell(folder, place, tuple(each.__name__ for each in helpers.HELPERS))

    def ids(self, noun: str) -> set[str]:
        """Return the ids, or else the names, of all things of a kind."""
        found = self.standalone.ask('GET', f'/{noun}', version='1.3')[1][noun.replace('-', '_')]
        return {each.get('id') or each['name'] for each in found}

    def registered(self) -> dict[str, dict[str, Any]]:
        """Return each resource, by its id."""
        found = self.standalone.ask('GET', '/resources', version='1.3')[1]['resources']
        return {each['id']: each for each in found}

    def states(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Return what can be changed of each resource, by its type and name."""
        return {
            _named(each): {field: each[field] for field in STATE}
            for each in self.registered().values()
        }

    def tidy(self) -> None:
        """Take away what a page has left, so that the next one begins as the first did."""
        self._delete('leases', self.ids('leases'))
        until('the leases are gone', lambda: not self.ids('leases'))
        self._delete('maintenances', self.ids('maintenances'))
        # Things of users are no resources that an operator can take away.
        registered = self.registered()
        added = {each for each in registered if _named(registered[each]) not in self.resources}
        self._delete('resources', added, spared=400)
        self._delete('resource-types', self.ids('resource-types') - self.types)
        for each in set(registered) - added:
            self._restore(registered[each])
        self._publish()
        left = self.states()
        assert self.resources.items() <= left.items(), (self.resources, left)

    def _restore(self, resource: dict[str, Any]) -> None:
        """Give a resource the properties of the beginning, and enable it."""
        before = self.resources[_named(resource)]
        changes = {'disabled': before['disabled'], 'properties': dict(before['properties'])}
        changes['properties'].update(
            dict.fromkeys(set(resource['properties']) - set(before['properties']))
        )
        if any(resource[field] != before[field] for field in STATE):
            self._change('PUT', f'/resources/{resource["id"]}', changes)

    def _publish(self) -> None:
        """Make the names of properties public, as they are at the beginning."""
        path = '/os-hosts/properties'
        found = self.standalone.ask('GET', f'{path}?detail=True&all=True', version='1.3')[1]
        for each in found['resource_properties']:
            if each['private']:
                self._change('PATCH', f'{path}/{each["property"]}', {'private': False})

    def _change(self, method: str, path: str, body: dict[str, Any]) -> None:
        status, answer = self.standalone.ask(method, path, body, version='1.3')
        assert status == 200, (method, path, status, answer)

    def _delete(self, noun: str, ids: set[str], spared: int = 202) -> None:
        for each in sorted(ids):
            status, answer = self.standalone.ask('DELETE', f'/{noun}/{each}', version='1.3')
            assert status in {202, 204, spared}, (noun, each, status, answer)


def _named(resource: dict[str, Any]) -> tuple[str, str]:
    return resource['resource_type'], resource['name']


class PageCase(TestCase):
    """One service, started for the class."""

    service: ClassVar[Service]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        cls.service = Service(pathlib.Path(folder), stack)

    def play(self, page: str) -> None:
        """Run the blocks of a page in one shell, in their order.

        The shell is empty. Most pages expect that readers have set theirs up.
        """
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        shell = self.useFixture(self.service.shell(folder))
        self.addCleanup(self.service.tidy)
        for each in dict.fromkeys([page] if page in ALONE else [SHELL, page]):
            for block in blocks.blocks():
                if block.page == each and block.mark and block.mark.where is Where.STANDALONE:
                    shell.play(block)


def add_tests(case: type[PageCase], pages: Iterable[str]) -> None:
    """Give a case a test for each page."""
    for page in pages:
        name = page.removeprefix('doc/source/').removesuffix('.rst').replace('/', '_')
        setattr(case, f'test_{name.replace("-", "_")}', _test(page))


def _test(page: str) -> Callable[[PageCase], None]:
    return lambda self: self.play(page)
