# SPDX-License-Identifier: Apache-2.0

"""Each request of the API has a command and a method, or a reason why not."""

from __future__ import annotations

import configparser

from climate.client.sdk.proxy import ReservationProxy
from doc.ext import capabilities_table
from doc.ext.capabilities_table import CAPABILITIES
from tests import base
from tests import routes
from tests.architecture import ROOT


def commands() -> set[str]:
    """Return the commands of the package."""
    parser = configparser.ConfigParser()
    parser.read(ROOT / 'setup.cfg')
    lines = parser['entry_points']['openstack.lease.v1'].strip().splitlines()
    return {line.partition(' =')[0].replace('_', ' ') for line in lines}


class CapabilitiesTest(base.TestCase):
    """The table is compared with the code."""

    def test_every_request_has_a_row(self) -> None:
        served = {f'{route.method} {route.path}' for route in routes.ALL}
        self.assertEqual(served, set(CAPABILITIES))

    def test_what_is_named_exists_and_nothing_is_left_out(self) -> None:
        cells = CAPABILITIES.values()
        named = {name for each in cells for name in capabilities_table.names(each.commands)}
        self.assertEqual(commands(), named)
        methods = {name for each in cells for name in capabilities_table.names(each.methods)}
        self.assertEqual([], [name for name in methods if not hasattr(ReservationProxy, name)])

    def test_no_empty_cell_lacks_its_reason(self) -> None:
        for request, found in CAPABILITIES.items():
            for cell in found:
                self.assertTrue(cell.removeprefix('—').strip(), request)
                self.assertNotEqual('—', cell.strip()[-1], request)

    def test_the_table(self) -> None:
        text = capabilities_table.rst_table()
        self.assertEqual(len(CAPABILITIES) + 1, text.count('   * - '))
        self.assertIn('     - ``lease set``, ``lease extend``', text)
