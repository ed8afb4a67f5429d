# SPDX-License-Identifier: Apache-2.0

"""What operators say of leases by booting."""

from __future__ import annotations

import datetime
from typing import Any

from oslo_config import cfg

from climate import conf as options
from climate import exceptions
from climate.manager.default_leases.server_lease_settings import ServerLeaseSettings
from tests import base


class SettingsTest(base.TestCase):
    """Options that fit together, and some that do not."""

    def settings(self, **wanted: Any) -> ServerLeaseSettings:
        conf = cfg.ConfigOpts()
        conf([], project='climate', default_config_files=[])
        options.register_opts(conf)
        conf.set_override('resource_types', wanted.pop('types', ['virtual:server']))
        for name, value in wanted.items():
            conf.set_override(name, value, group='virtual:server')
        return ServerLeaseSettings.from_conf(conf)

    def test_off_by_default(self) -> None:
        self.assertEqual(ServerLeaseSettings(), self.settings(types=['physical:host']))

    def test_lengths(self) -> None:
        for text, days in (('30d', 30), ('P1D', 1), ('24h', 1), ('', None)):
            found = self.settings(leases_by_booting=True, default_lease=text).default_lease
            self.assertEqual(days and datetime.timedelta(days=days), found)

    def test_what_does_not_fit(self) -> None:
        for text, wanted in (
            ('is not a duration', {'leases_by_booting': True, 'default_lease': 'a month'}),
            ('is not a duration', {'leases_by_booting': True, 'default_lease': '0d'}),
            ('needs leases_by_booting', {'default_lease': '30d'}),
            ('in resource_types', {'leases_by_booting': True, 'types': ['physical:host']}),
        ):
            self.assert_error(exceptions.ConfigurationError, text, self.settings, **wanted)
