# SPDX-License-Identifier: Apache-2.0

"""The option that says how long resource types take to yield."""

from __future__ import annotations

from climate.cmd import config
from climate.leases.settings import LeasingSettings
from tests import base


class TestYieldSeconds(base.TestCase):
    """As operators write it."""

    def settings(self, value: str) -> LeasingSettings:
        conf = config.new_conf()
        conf([], project='climate', default_config_files=[])
        conf.set_override('yield_seconds', value.split(','), group='planner')
        return LeasingSettings.from_conf(conf)

    def test_names_of_types_have_colons(self) -> None:
        found = self.settings('physical:host=120,virtual:server=300').yield_seconds
        self.assertEqual((('physical:host', 120), ('virtual:server', 300)), found)

    def test_what_is_no_number_is_refused(self) -> None:
        for wrong in ('physical:host', 'physical:host=', 'physical:host=2m', '=3'):
            self.assertRaises(ValueError, self.settings, wrong)
