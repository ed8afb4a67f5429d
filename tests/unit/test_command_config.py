# SPDX-License-Identifier: Apache-2.0

"""Where commands and WSGI servers find their configuration."""

from __future__ import annotations

import logging
from collections.abc import Callable

import fixtures

from climate.cmd import api
from climate.cmd import config
from climate.cmd import standalone
from tests.base import FolderCase


class PlacesTest(FolderCase):
    """A directory that the environment names."""

    def setUp(self) -> None:
        super().setUp()
        self.useFixture(fixtures.EnvironmentVariable(config.ENV_DIR, str(self.folder)))
        (self.folder / 'climate.conf').write_text('[manager]\nworkers = 3\nmax_sleep = 4\n')

    def test_file(self) -> None:
        self.assertEqual(3, config.read([], 'climate-api').manager.workers)

    def test_more_files_prevail(self) -> None:
        more = self.folder / 'climate.conf.d'
        more.mkdir()
        (more / '10-workers.conf').write_text('[manager]\nworkers = 5\n')
        (more / '20-workers.conf').write_text('[manager]\nworkers = 7\n')
        self.assert_has(config.read([], 'climate-api').manager, workers=7, max_sleep=4.0)

    def test_arguments_prevail(self) -> None:
        other = self.folder / 'other.conf'
        other.write_text('[manager]\nworkers = 9\n')
        conf = config.read([f'--config-file={other}'], 'climate-manager')
        self.assertEqual(9, conf.manager.workers)


class ExposureTest(FolderCase):
    """An API that believes its callers stays on the machine."""

    def setUp(self) -> None:
        super().setUp()
        # The commands set up logging of the whole process, to files that go with the test.
        root = logging.getLogger()
        self.addCleanup(self.put_back, root.level, list(root.handlers))

    def put_back(self, level: int, handlers: list[logging.Handler]) -> None:
        """Log as before."""
        root = logging.getLogger()
        for handler in set(root.handlers) - set(handlers):
            handler.close()
        root.setLevel(level)
        root.handlers[:] = handlers

    def refusal(self, *arguments: str) -> str:
        """Return why climate-api does not start."""
        file = self.folder / 'climate.conf'
        # It fails afterwards, so that nothing is served.
        log = f'log_file = {file}.log'
        file.write_text(f'[DEFAULT]\nauth_strategy = noauth\nresource_types = no:such\n{log}\n')
        return self.said(api.main, 'climate-api', f'--config-file={file}', *arguments)

    def said(self, main: Callable[[], int], *argv: str) -> str:
        """Return what a command says that does not start."""
        self.useFixture(fixtures.MonkeyPatch('sys.argv', [*argv]))
        errors = self.useFixture(fixtures.StringStream('stderr')).stream
        self.useFixture(fixtures.MonkeyPatch('sys.stderr', errors))
        self.assertEqual(1, main())
        errors.seek(0)
        return errors.read()

    def test_refused_elsewhere(self) -> None:
        for host in ('0.0.0.0', '::', '192.0.2.1', 'controller'):
            self.assertIn('--i-know', self.refusal('--host', host))

    def test_the_standalone_is_refused_there_as_well(self) -> None:
        argv = ('climate-standalone', '--state-dir', f'{self.folder}/state', '--host', '0.0.0.0')
        self.assertIn('--i-know', self.said(standalone.main, *argv))

    def test_loopback_and_who_knows(self) -> None:
        for arguments in (
            (),
            ('--host', '127.0.0.2'),
            ('--host', '::1'),
            ('--host', 'localhost'),
            ('--host', '0.0.0.0', '--i-know'),
        ):
            self.assertIn('no:such', self.refusal(*arguments))
