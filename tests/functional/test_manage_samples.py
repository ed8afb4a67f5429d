# SPDX-License-Identifier: Apache-2.0

"""``climate-manage samples``."""

from __future__ import annotations

from climate.cmd.samples import TYPES
from tests.base import FolderCase
from tests.functional.test_manage import run

_SETTINGS = """
[DEFAULT]
cloud = {cloud}
resource_types = {types}
[simulator]
state_dir = {folder}/simulator
[database]
connection = sqlite:///{folder}/climate.sqlite
"""


class SamplesTest(FolderCase):
    """A database without resources."""

    def add(self, cloud: str, *arguments: str) -> tuple[int, list[str]]:
        """Create the tables and run the command; return its exit status and what it prints."""
        file = self.folder / 'climate.conf'
        file.write_text(_SETTINGS.format(cloud=cloud, types=','.join(TYPES), folder=self.folder))
        self.assertEqual(0, run('--config-file', str(file), 'db', 'sync')[0])
        status, lines = run('--config-file', str(file), 'samples', 'add', *arguments)
        return status, [line for line in lines if ' WARNING ' not in line]

    def test_it_adds_what_is_missing(self) -> None:
        status, lines = self.add('simulated', '--hosts', '2')
        self.assertEqual(0, status, lines)
        self.assertIn('physical:host: 2 resources', lines)
        for name in ('custom:rack', 'network', 'physical:storage', 'virtual:floatingip'):
            self.assertTrue(any(line.startswith(f'{name}: ') for line in lines), lines)
        self.assertEqual((0, lines), self.add('simulated', '--hosts', '2'))
        self.assertIn('physical:host: 3 resources', self.add('simulated', '--hosts', '3')[1])

    def test_it_refuses(self) -> None:
        status, lines = self.add('real')
        self.assertEqual((2, 1), (status, len(lines)), lines)
        self.assertIn('Samples are for a simulated cloud', lines[0])
        status, lines = self.add('simulated', '--hosts', '-1')
        self.assertEqual((1, 1), (status, len(lines)), lines)
        self.assertIn('--hosts must be from 0', lines[0])
