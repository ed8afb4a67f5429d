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

"""What every test of the tool for clouds builds upon."""

from __future__ import annotations

import pathlib
from typing import Any

import fixtures

from tests import base
from tools.cloud import ports
from tools.cloud.state import Cloud


def cloud_in(directory: pathlib.Path, **changes: Any) -> Cloud:
    """Return a cloud of two hosts that was never started."""
    table = ports.table(15000)
    fields: dict[str, Any] = {
        'directory': directory,
        'ports': table,
        'hosts': ('compute-1', 'compute-2'),
        'database_server': f'mysql+pymysql://root@127.0.0.1:{table["mariadb"]}',
        'transport_url': f'rabbit://guest:guest@127.0.0.1:{table["rabbit"]}/',
        'memcached': f'127.0.0.1:{table["memcached"]}',
    }
    return Cloud(**(fields | changes))


class CloudTestCase(base.TestCase):
    """Has a directory for a cloud, and the cloud."""

    def setUp(self) -> None:
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.cloud = cloud_in(self.directory)
        for folder in (self.cloud.run, self.cloud.logs, self.cloud.data, self.cloud.etc):
            folder.mkdir()
