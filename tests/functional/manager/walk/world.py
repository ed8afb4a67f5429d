# SPDX-License-Identifier: Apache-2.0

"""Every type of this project, in a world that can go back."""

from __future__ import annotations

from climate.leases.settings import LeasingSettings
from climate.plugins.custom.plugin import Custom
from climate.plugins.stack.plugin import VirtualStack
from climate.plugins.stack.settings import StackSettings
from climate.testing import world
from climate.testing.world import CALLER
from climate.testing.world import Moment
from climate.testing.world import NOTHING
from climate.testing.world import Picture
from climate.testing.world import SETTINGS
from tests import drafts
from tests.functional import declared

__all__ = ['CALLER', 'NOTHING', 'SETTINGS', 'Moment', 'Picture', 'World']


class World(world.World):
    """Every type that this tree declares, and one that an operator declares."""

    def __init__(
        self,
        cloud_dir: str = ':memory:',
        settings: LeasingSettings = SETTINGS,
        *,
        alone: bool = False,
    ) -> None:
        booked = StackSettings(guarantee=frozenset({'servers', 'floating_ips'}))
        types = {
            **declared.plugins(),
            'virtual:stack': VirtualStack(booked),
            drafts.RACKS.name: Custom(drafts.RACKS),
        }
        super().__init__(types.values(), cloud_dir, settings, alone=alone)
