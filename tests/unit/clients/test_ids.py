# SPDX-License-Identifier: Apache-2.0

"""Ids that are none are not sent to a service: they could be another address there."""

from __future__ import annotations

from typing import Any

from climate.cloud.cinder import CinderBlockStorage
from climate.cloud.errors import Errors
from climate.cloud.glance import GlanceImages
from climate.cloud.heat import HeatClient
from climate.cloud.nova.flavors import NovaFlavors
from climate.cloud.nova.servers import NovaServers
from tests import base

UUID = 'c5a50c4b-7d4f-4f5e-9d2b-0c6c27b0b0d1'
BAD = (
    '',
    '.',
    '..',
    '../../other/volumes/x',
    f'{UUID}#2',
    f'{UUID}?all=1',
    f'{UUID}/',
    f'{UUID}\n',
)


class Asked(Exception):
    """A service was asked."""


class Silent:
    """Whatever is asked for is too much."""

    def __getattr__(self, name: str) -> Any:
        raise Asked(name)


class TestIds(base.TestCase):
    """Verbs that are handed what callers have sent."""

    def test_nothing_is_asked_for_what_is_no_id(self) -> None:
        silent: Any = Silent()
        cinder, glance = CinderBlockStorage(silent), GlanceImages(silent)
        servers, flavors = (kind.__new__(kind) for kind in (NovaServers, NovaFlavors))
        verbs = (
            cinder.find_volume,
            cinder.find_snapshot,
            cinder.find_backup,
            glance.find_image,
            servers.find_server,
            flavors.find_flavor,
        )
        for find in verbs:
            for text in BAD:
                self.assertIsNone(find(text), text)
        self.assertRaises(Asked, cinder.find_volume, UUID)
        self.assertRaises(Asked, glance.find_image, UUID)

    def test_stacks_are_named_within_one_part_of_an_address(self) -> None:
        heat = HeatClient(Adapter(), Errors('Heat', None))
        for text in ('', '.', '..'):
            self.assertIsNone(heat.find_stack(text), text)
        asked = self.assertRaises(Asked, heat.find_stack, '../x?y#z')
        self.assertEqual('http://heat/v1/blue/stacks/..%2Fx%3Fy%23z', str(asked))


class Adapter:
    """Knows where Heat is."""

    endpoint_override = 'http://heat/v1/blue'

    def get_project_id(self) -> str:
        """Return it."""
        return 'blue'

    def get(self, url: str, **_options: Any) -> Any:
        """Tell what is asked for."""
        raise Asked(url)
