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

"""The configuration that puts a simulated cloud in place of a real one."""

from __future__ import annotations

import pathlib

import fixtures
import testtools
from oslo_config import cfg

from climate import conf as climate_conf
from climate.clock import SystemClock
from climate.cmd import clouds
from climate.simulator import SimulatedCloud


class TestConfiguration(testtools.TestCase):
    """``[DEFAULT] cloud`` and ``[simulator] state_dir``, by their present and former names."""

    def opened(self, value: str, group: str) -> pathlib.Path:
        """Open the cloud of a configuration file, seed it, and return its directory."""
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (folder / 'climate.conf').write_text(
            f'[DEFAULT]\ncloud = {value}\n[{group}]\nstate_dir = {folder}/state\n'
        )
        conf = cfg.ConfigOpts()
        climate_conf.register_opts(conf)
        conf(['--config-file', str(folder / 'climate.conf')], project='climate')
        cloud = clouds.open_cloud(conf, SystemClock())
        assert isinstance(cloud, SimulatedCloud)
        self.addCleanup(cloud.close)
        cloud.seed(1)
        return folder / 'state'

    def test_the_state_is_where_the_file_says(self) -> None:
        self.assertNotEqual([], list(self.opened('simulated', 'simulator').iterdir()))

    def test_the_former_names_are_understood(self) -> None:
        self.assertNotEqual([], list(self.opened('twin', 'twin').iterdir()))
