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

"""The application that WSGI servers import."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile

from tests import base

_ASK = """
import webob
from climate.wsgi import api
for path in ('/v1', '/v1/leases'):
    print('answer', webob.Request.blank(path).get_response(api.application).status_int)
"""


class WsgiTest(base.TestCase):
    """It reads its configuration at the first request."""

    def test_two_requests(self):
        # In a process of its own, for it sets up the log of the whole process.
        with tempfile.TemporaryDirectory() as folder:
            conf = pathlib.Path(folder) / 'climate.conf'
            conf.write_text(
                '[DEFAULT]\nauth_strategy = noauth\ntransport_url = fake://\n'
                f'[database]\nconnection = sqlite:///{folder}/climate.sqlite\n',
                encoding='utf-8',
            )
            done = subprocess.run(
                [sys.executable, '-c', _ASK],
                env={**os.environ, 'OS_CLIMATE_CONFIG_DIR': folder},
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
        # There are no tables, which is a fault of the operator's, but the
        # version document is told.
        answers = [line for line in done.stdout.splitlines() if line.startswith('answer')]
        self.assertEqual(['answer 200', 'answer 503'], answers, done.stderr)
