# SPDX-License-Identifier: Apache-2.0

"""The web page: its model, that it is built from its sources, and people in browsers."""

from __future__ import annotations

import os
import pathlib
import subprocess
from collections.abc import Callable

import fixtures

from climate import web
from tests import base
from tests import browsers
from tests.functional.guarded import ListeningService
from tests.functional.keystone import PASSWORD
from tests.functional.processes import Standalone

STATIC = pathlib.Path(web.__file__).parent / 'static'


class _PageTest(base.TestCase):
    """Something that needs Node and what ``make web`` installs."""

    def setUp(self) -> None:
        super().setUp()
        browsers.need_tools()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def run_node(self, *words: object) -> str:
        done = subprocess.run(
            [str(word) for word in words],
            cwd=browsers.SOURCES,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return done.stdout


class TestBuild(_PageTest):
    """The files in the package, and their sources."""

    def test_the_package_has_what_the_sources_make(self) -> None:
        self.run_node('node', 'build.mjs', self.folder / 'static')
        built = {path.name: path.read_bytes() for path in (self.folder / 'static').iterdir()}
        packaged = {path.name: path.read_bytes() for path in STATIC.iterdir()}
        self.assertEqual(sorted(packaged), sorted(built))
        self.assertEqual([], [name for name, content in built.items() if packaged[name] != content])

    def test_the_types(self) -> None:
        self.run_node('node_modules/.bin/tsc', '--project', '.')

    def test_the_model(self) -> None:
        bundle = self.folder / 'model.test.mjs'
        self.run_node(
            'node_modules/.bin/esbuild',
            'tests/model.test.ts',
            '--bundle',
            '--platform=node',
            '--format=esm',
            f'--outfile={bundle}',
        )
        self.run_node('node', '--test', bundle)


class TestBrowsers(_PageTest):
    """People in browsers."""

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(Standalone())
        self.address = self.service.endpoint.removesuffix('/v1') + '/ui/'

    def test_chromium_books(self) -> None:
        self.play('features', 'booking', 'phone')

    def test_chromium_changes(self) -> None:
        self.play('changes', 'addresses')

    def test_chromium_is_narrow(self) -> None:
        self.play('phones')

    def test_chromium_signs_in(self) -> None:
        self.play('sessions')

    def play(self, *plays: str) -> None:
        """Play some of the plays of ``browser.mjs``; of these, those that the caller names."""
        browsers.need(browsers.CHROMIUM)
        named = os.environ.get('CLIMATE_WEB_STEPS', '').split()
        plays = tuple(each for each in plays if not named or each in named)
        if not plays:
            self.skipTest('CLIMATE_WEB_STEPS names others')
        guarded = self.useFixture(ListeningService())
        actions = {
            'please end the session': guarded.end_sessions,
            'please stop the service': self.service.command.kill,
            'please start the service': self.service.again,
        }
        wanted = {'CLIMATE_WEB_STEPS': ' '.join(plays)}
        said = self.talk(actions, wanted, 'tests/browser.mjs', self.address, guarded.address)
        self.assertIn('ok all', said)

    def test_firefox(self) -> None:
        browsers.need(browsers.FIREFOX)
        said = self.run_node('node', 'tests/firefox.mjs', self.address)
        self.assertIn('ok open a lease by keyboard', said)
        self.assertIn('ok the window of a lease that may move', said)

    def talk(
        self, actions: dict[str, Callable[[], None]], named: dict[str, str], *words: str
    ) -> str:
        """Run a script that says, line by line, what is to be done to the service meanwhile."""
        process = subprocess.Popen(
            ['node', *words],
            cwd=browsers.SOURCES,
            env={**os.environ, **named, 'PASSWORD': PASSWORD},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        assert process.stdin is not None and process.stdout is not None
        said = ''
        for line in process.stdout:
            said += line
            if line.strip() in actions:
                actions[line.strip()]()
                process.stdin.write('done\n')
                process.stdin.flush()
        self.assertEqual(0, process.wait(60), said)
        return said
