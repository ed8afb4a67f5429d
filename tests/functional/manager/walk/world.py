# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
        together: bool | None = None,
    ) -> None:
        booked = StackSettings(guarantee=frozenset({'servers', 'floating_ips'}))
        types = {
            **declared.plugins(),
            'virtual:stack': VirtualStack(booked),
            drafts.RACKS.name: Custom(drafts.RACKS),
        }
        super().__init__(types.values(), cloud_dir, settings, together=together)
