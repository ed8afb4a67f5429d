# SPDX-License-Identifier: Apache-2.0

"""The service that the benchmarks measure."""

from __future__ import annotations

import subprocess
import sys

import fixtures

from tests import base
from tests.architecture import ROOT

SCRIPT = """
import datetime, sys, webob
from benchmarks import parts
from climate.db.migrations import migration

core = parts.core(sys.argv[1])
migration.sync(core.store.engine)
request = webob.Request.blank('/v1/leases', method='POST')
request.headers['X-Auth-Token'] = 'notused'
request.json = parts.lease_body('one', core.clock.now() + datetime.timedelta(days=1))
print(request.get_response(parts.api(core)).json['error_name'])
"""


class PartsTest(base.TestCase):
    """In a process of its own, since it sets up the log."""

    def test_the_api_answers(self) -> None:
        url = f'sqlite:///{self.useFixture(fixtures.TempDir()).path}/climate.sqlite'
        done = subprocess.run(
            [sys.executable, '-c', SCRIPT, url],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        self.assertEqual('NOT_ENOUGH_RESOURCES\n', done.stdout, done.stderr)
