# SPDX-License-Identifier: Apache-2.0

"""The configuration that puts a simulated cloud in place of a real one."""

from __future__ import annotations

from oslo_config import cfg

from climate import conf as climate_conf
from climate.clock import SystemClock
from climate.cmd import clouds
from climate.simulator import SimulatedCloud
from tests import base


class TestConfiguration(base.FolderCase):
    """``[DEFAULT] cloud`` and ``[simulator] state_dir``."""

    def test_the_state_is_where_the_file_says(self) -> None:
        (self.folder / 'climate.conf').write_text(
            f'[DEFAULT]\ncloud = simulated\n[simulator]\nstate_dir = {self.folder}/state\n'
        )
        conf = cfg.ConfigOpts()
        climate_conf.register_opts(conf)
        conf(['--config-file', str(self.folder / 'climate.conf')], project='climate')
        cloud = clouds.open_cloud(conf, SystemClock())
        assert isinstance(cloud, SimulatedCloud)
        self.addCleanup(cloud.close)
        cloud.seed(1)
        self.assertNotEqual([], list((self.folder / 'state').iterdir()))
