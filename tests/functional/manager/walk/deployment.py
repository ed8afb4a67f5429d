# SPDX-License-Identifier: Apache-2.0

"""Every type of this project, in a deployment that can be restored."""

from __future__ import annotations

from climate.leases.settings import LeasingSettings
from climate.plugins.custom.plugin import Custom
from climate.plugins.stack.plugin import VirtualStack
from climate.plugins.stack.settings import StackSettings
from climate.testing import restorable
from climate.testing.restorable import CALLER
from climate.testing.restorable import Moment
from climate.testing.restorable import NOTHING
from climate.testing.restorable import Picture
from climate.testing.restorable import SETTINGS
from tests import drafts
from tests.functional import declared

__all__ = ['CALLER', 'NOTHING', 'SETTINGS', 'Moment', 'Picture', 'WalkDeployment']


class WalkDeployment(restorable.RestorableDeployment):
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
