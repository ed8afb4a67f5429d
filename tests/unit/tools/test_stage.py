# SPDX-License-Identifier: Apache-2.0

"""What the demos share."""

from __future__ import annotations

import pathlib
import subprocess
import unittest.mock

from tests import base
from tools import stage


class DemoClientTest(base.TestCase):
    """The commands of a demo."""

    def test_a_command_has_time_on_a_busy_machine(self) -> None:
        done = subprocess.CompletedProcess([], 0, stdout='a\n', stderr='')
        with unittest.mock.patch('subprocess.run', return_value=done) as run:
            client = stage.Client(pathlib.Path('/'), 'http://127.0.0.1:1', unittest.mock.Mock())
            self.assertEqual('a', client.run('lease', 'list'))
        # Each takes half a minute if eight other processes want its processor.
        self.assertEqual(stage.START_PATIENCE, run.call_args.kwargs['timeout'])
