# SPDX-License-Identifier: Apache-2.0

"""The commands that ``climate-standalone`` prints work when they are copied."""

from __future__ import annotations

import configparser
import os
import pathlib
import re
import subprocess
import sys
import time

import fixtures

from tests.architecture import ROOT
from tests.base import TestCase
from tools.locked import closure
from tools.locked import names


class TestCommandsToTry(TestCase):
    """A newcomer copies what is on the screen into another terminal."""

    def setUp(self) -> None:
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.log = folder / 'log'
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith('OS_')}
        program = pathlib.Path(sys.executable).with_name('climate-standalone')
        with self.log.open('w') as output:
            process = subprocess.Popen(
                [program, '--port=0', f'--state-dir={folder / "state"}'],
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self.environment,
            )
        self.addCleanup(process.wait, 60)
        self.addCleanup(process.terminate)

    def commands(self) -> list[str]:
        """Return the lines below "Try"."""
        deadline = time.monotonic() + 120
        while 'lease list\n' not in self.log.read_text():
            self.assertLess(time.monotonic(), deadline, self.log.read_text())
            time.sleep(0.05)
        _, _, text = self.log.read_text().partition('\nTry')
        text = text.partition('lease list\n')[0] + 'lease list'
        return [line.strip() for line in text.splitlines()[1:]]

    def test_they_work(self) -> None:
        commands = self.commands()
        self.assertEqual(4, len(commands), commands)
        # The shell of other users, and a folder of another project.
        facts = {'cwd': '/', 'env': self.environment, 'timeout': 360, 'text': True}
        text = '\n'.join(commands)
        done = subprocess.run(['sh', '-e'], input=text, check=False, capture_output=True, **facts)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn('ACTIVE', done.stdout)
        self.assertIn('demo', done.stdout.splitlines()[-2])


class TestClientOfMake(TestCase):
    """What make installs next to the service."""

    def test_the_other_client_and_its_message_are_left_out(self) -> None:
        words = re.search(r'^CLIENT := (.*)$', (ROOT / 'Makefile').read_text(), re.MULTILINE)
        assert words is not None
        extras = configparser.ConfigParser()
        extras.read(ROOT / 'setup.cfg')
        extra = names(extras['extras']['client'])
        self.assertEqual(sorted(extra), sorted(words[1].split()))
        constraints = (ROOT / 'constraints.txt').read_text()
        self.assertNotIn('python-blazarclient', closure(constraints, extra))
