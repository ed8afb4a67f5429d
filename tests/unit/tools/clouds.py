# SPDX-License-Identifier: Apache-2.0

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
