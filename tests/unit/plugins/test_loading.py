# SPDX-License-Identifier: Apache-2.0

"""Plugins are found by name; a wrong one is named in one clear line."""

from __future__ import annotations

from typing import Any

import fixtures
import stevedore.driver
from oslo_config import cfg

from climate import conf as options
from climate import exceptions
from climate.plugins import loading
from climate.plugins.host.plugin import PhysicalHost
from tests import base


class _Broken(PhysicalHost):
    @classmethod
    def from_conf(cls, conf: Any) -> PhysicalHost:
        raise ValueError('a broken option')


class TestLoading(base.TestCase):
    """What is installed, and what is not."""

    def setUp(self) -> None:
        super().setUp()
        self.conf = cfg.ConfigOpts()
        options.register_opts(self.conf)
        self.conf([], project='climate', default_config_files=[])

    def refusal(self, name: str) -> str:
        error = self.assertRaises(exceptions.ConfigurationError, loading.load, [name], self.conf)
        self.assertNotIn('\n', error.message)
        return str(error.message)

    def pretend(self, thing: object) -> None:
        """Let the entry point be *thing*."""

        class Manager:
            driver = thing

            def __init__(self, *arguments: object, **options: object) -> None:
                """Take what stevedore's manager takes."""

        self.useFixture(fixtures.MonkeyPatch('stevedore.driver.DriverManager', Manager))
        self.assertIs(Manager, stevedore.driver.DriverManager)

    def test_by_name_and_once(self) -> None:
        found = loading.load(['physical:host', 'physical:host'], self.conf)
        self.assertEqual(['physical:host'], list(found))
        self.assertIsInstance(found['physical:host'], PhysicalHost)
        self.assertEqual({}, loading.load([], self.conf))

    def test_options_reach_it(self) -> None:
        self.conf.set_override('aggregate_freepool_name', 'pool', group='nova')
        plugin = loading.load(['physical:host'], self.conf)['physical:host']
        self.assertEqual('pool', plugin._settings.freepool)

    def test_unknown(self) -> None:
        self.assertIn("'no:such' is not installed", self.refusal('no:such'))

    def test_not_a_plugin(self) -> None:
        self.pretend(dict)
        self.assertIn("'some' is not a plugin of Climate", self.refusal('some'))

    def test_broken(self) -> None:
        self.pretend(_Broken)
        self.assertIn("'some' cannot be used: a broken option", self.refusal('some'))
