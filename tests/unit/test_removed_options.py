# SPDX-License-Identifier: Apache-2.0

"""What operators read about options that Climate no longer has."""

from __future__ import annotations

import logging
import pathlib

import fixtures
from oslo_config import cfg
from oslo_upgradecheck import upgradecheck

from climate.cmd import config
from climate.cmd import status
from climate.conf import opts
from climate.conf import removed
from tests import base


class RemovedOptionsTest(base.TestCase):
    """A configuration that sets an option which has gone."""

    def setUp(self) -> None:
        super().setUp()
        self.file = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'climate.conf'

    def read(self, text: str) -> list[str]:
        """Return the complaints about a configuration file."""
        return list(removed.complaints(self.conf(text)))

    def conf(self, text: str) -> cfg.ConfigOpts:
        """Return the configuration that a file makes."""
        self.file.write_text(text)
        conf = config.new_conf()
        conf(['--config-file', str(self.file)], project='climate')
        return conf

    def test_present_options_are_not_complained_about(self) -> None:
        self.assertEqual([], self.read('[manager]\nworkers = 3\n'))

    def test_complaints_name_the_option_and_the_file(self) -> None:
        for value in ('true', 'false', ''):
            (text,) = self.read(f'[manager]\nbatches = {value}\n')
            self.assert_contains(text, '[manager] batches has no effect any more', str(self.file))

    def test_complaints_name_the_variable_of_the_environment(self) -> None:
        self.useFixture(fixtures.EnvironmentVariable('OS_MANAGER__BATCHES', 'false'))
        (text,) = self.read('')
        self.assertIn('OS_MANAGER__BATCHES', text)

    def test_processes_log_complaints_when_they_start(self) -> None:
        self.useFixture(fixtures.MockPatchObject(config.log, 'setup'))
        self.useFixture(fixtures.MockPatchObject(config.logs, 'prepare'))
        log = self.useFixture(fixtures.FakeLogger(level=logging.WARNING))
        self.file.write_text('[manager]\nbatches = false\n')
        config.read(['--config-file', str(self.file)], 'climate-manager')
        self.assertEqual(1, log.output.count('[manager] batches has no effect'))

    def test_upgrade_check_warns(self) -> None:
        for text, code in (
            ('', upgradecheck.Code.SUCCESS),
            ('[manager]\nbatches = true\n', upgradecheck.Code.WARNING),
        ):
            self.assertEqual(code, status.Checks(self.conf(text))._check_options().code, text)

    def test_removed_options_are_gone(self) -> None:
        present = {
            (group, option.name) for group, options in opts.list_opts() for option in options
        }
        for option in removed.OPTIONS:
            self.assertNotIn((option.group, option.name), present)
