# SPDX-License-Identifier: Apache-2.0

"""What a manager says of time-outs when it starts."""

from __future__ import annotations

import logging

import fixtures

from climate.cmd import config
from climate.cmd import manager
from tests import base


class TestTimeouts(base.TestCase):
    """Calls that may outlast the claim under which they are made."""

    def said(self, seconds: float) -> str:
        """Return what is said with claims that last so long."""
        conf = config.new_conf()
        conf([], project='climate', prog='climate-manager', default_config_files=[])
        conf.set_override('claim_seconds', seconds, group='manager')
        conf.set_override('timeout', 5, group='cinder')
        log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        manager._note_timeouts(conf)
        return log.output

    def test_it_names_the_services(self) -> None:
        self.assertIn('nova, placement, glance, neutron, heat, keystone', self.said(30))
        self.assertIn('neutron, cinder, heat', self.said(10))
        self.assertEqual('', self.said(100))
