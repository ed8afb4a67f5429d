# SPDX-License-Identifier: Apache-2.0

"""The plugin of python-openstackclient, with python-blazarclient and without it."""

from __future__ import annotations

import argparse

import fixtures
from osc_lib import exceptions

from climate.client.osc import plugin
from tests import base

OPTION = '--os-reservation-api-version'


class OpenstackClientPluginTest(base.TestCase):
    """Both clients add to one parser, in any order."""

    def test_the_option_is_left_to_the_stock_client(self) -> None:
        parser = plugin.build_option_parser(argparse.ArgumentParser())
        parser.add_argument(OPTION)
        self.assertEqual('1.4', parser.parse_args([OPTION, '1.4']).os_reservation_api_version)

    def test_the_option_without_the_stock_client(self) -> None:
        self.useFixture(fixtures.MonkeyPatch('importlib.util.find_spec', lambda _name: None))
        parser = plugin.build_option_parser(argparse.ArgumentParser())
        self.assertEqual('1.4', parser.parse_args([OPTION, '1.4']).os_reservation_api_version)

    def test_versions(self) -> None:
        self.assertTrue(plugin.check_api_version('1'))
        self.assertTrue(plugin.check_api_version('1.4'))
        for version in ('2', '1.', 'x', '1.4.2', ''):
            self.assertRaises(exceptions.CommandError, plugin.check_api_version, version)
