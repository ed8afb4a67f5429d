# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The commands that ``climate-standalone`` prints work when they are copied."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import time

import fixtures

from tests.base import TestCase


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
        """Return what is printed below "Try", as whole lines of a shell."""
        deadline = time.monotonic() + 120
        while 'lease list\n' not in self.log.read_text():
            self.assertLess(time.monotonic(), deadline, self.log.read_text())
            time.sleep(0.05)
        _, _, text = self.log.read_text().partition('\nTry')
        text = text.partition('lease list\n')[0] + 'lease list'
        lines = text.partition('\n')[2].replace('\\\n', '').splitlines()
        return [line.strip() for line in lines]

    def test_they_work(self) -> None:
        commands = self.commands()
        self.assertEqual(3, len(commands), commands)
        outputs = []
        for command in commands:
            done = subprocess.run(
                command,
                shell=True,
                cwd='/',
                env=self.environment,
                capture_output=True,
                text=True,
                timeout=180,
                check=False,
            )
            self.assertEqual(0, done.returncode, f'{command}\n{done.stderr}')
            outputs.append(done.stdout)
        self.assertIn('compute-4', outputs[0])
        self.assertIn('PENDING', outputs[1])
        self.assertIn('demo', outputs[2])
