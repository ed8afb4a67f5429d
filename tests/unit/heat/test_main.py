# SPDX-License-Identifier: Apache-2.0

"""What operators print and write by the administrator guide."""

from __future__ import annotations

import pathlib
import pkgutil
import subprocess
import sys

from tests import base
from tests import commands
from tests.architecture import ROOT

PAGE = (ROOT / 'doc/source/admin/heat.rst').read_text(encoding='utf-8')
PRINTED = '/opt/heat/lib/python3.12/site-packages/climate/heat/plugins'

# What the service and the commands need, and Heat has not.
NOT_THERE = ('alembic', 'lark', 'numpy', 'oslo_db', 'osc_lib', 'pecan', 'sqlalchemy')
# Without the resource itself, which needs Heat.
IMPORTS = f"""
import sys
sys.modules |= dict.fromkeys({NOT_THERE})
from climate.client.sdk import proxy
from climate.heat import bodies, booking, failures, waits
"""


class ImportsTest(base.TestCase):
    """Heat runs with its own libraries."""

    def test_no_library_is_needed_that_heat_lacks(self) -> None:
        subprocess.run([sys.executable, '-c', IMPORTS], check=True, cwd=ROOT)


class FolderTest(base.TestCase):
    """``python -m climate.heat``."""

    def test_the_folder_has_what_heat_loads(self) -> None:
        self.assertIn('$ /opt/heat/bin/python -m climate.heat\n   ' + PRINTED, PAGE)
        self.assert_contains(PAGE, 'plugin_dirs = /usr/lib64/heat,', f',{PRINTED}\n')
        # The release of Heat that the test cloud installs.
        lock = (ROOT / 'tools/cloud/requirements.lock').read_text(encoding='utf-8')
        major = lock.partition('\nopenstack-heat==')[2].partition('.')[0]
        self.assertIn(f'with Heat {major}:', PAGE)
        done = commands.captured([sys.executable, '-m', 'climate.heat'], check=True)
        folder = pathlib.Path(done.stdout.strip())
        self.assertEqual(pathlib.Path(PRINTED).parts[-3:], folder.parts[-3:])
        # Heat imports all of them.
        names = [each.name for each in pkgutil.walk_packages([str(folder)])]
        self.assertEqual(['climate_lease'], names)
        self.assertIn('def resource_mapping()', (folder / 'climate_lease.py').read_text())
