# SPDX-License-Identifier: Apache-2.0

"""What the options of climate-standalone do not accept."""

from __future__ import annotations

import io
import unittest.mock

import fixtures

from climate.cmd import standalone
from tests import base


class StandaloneOptionsTest(base.FolderCase):
    """Nothing is started."""

    def refusal(self, *words: str) -> tuple[object, str]:
        """Return the exit status and the last line on standard error."""
        said = io.StringIO()
        self.useFixture(fixtures.MonkeyPatch('sys.argv', ['climate-standalone', *words]))
        with unittest.mock.patch('sys.stderr', said), unittest.mock.patch('os.umask'):
            try:
                status: object = standalone.main()
            except SystemExit as stop:
                status = stop.code
        return status, said.getvalue().splitlines()[-1]

    def test_numbers_that_cannot_be(self) -> None:
        for words, text in (
            (('--port', '99999'), "argument --port: '99999' is no number from 0 to 65535"),
            (('--port', 'x'), "argument --port: 'x' is no number from 0 to 65535"),
            (('--hosts', '-1'), "argument --hosts: '-1' is no number from 0 to 100000"),
        ):
            status, line = self.refusal(*words)
            self.assertEqual(2, status)
            self.assertIn(text, line)

    def test_a_file_that_is_missing(self) -> None:
        words = ('--config-file', str(self.folder / 'no.conf'), '--state-dir', str(self.folder))
        status, line = self.refusal(*words)
        self.assertEqual(1, status)
        expected = f'climate-standalone: Failed to find some config files: {self.folder}/no.conf'
        self.assertEqual(expected, line)
