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

"""Each type says what people do with its reservations."""

from __future__ import annotations

from climate.testing.instructed import Instructed
from tests.base import TestCase
from tests.functional.manager.walk.kinds import KINDS
from tests.functional.manager.walk.world import World

NAMES = {
    'physical:host': ['create_server'],
    'virtual:floatingip': ['add_floating_ip', 'add_floating_ip'],
    'network': ['network', 'create_subnet', 'create_server'],
    'virtual:instance': ['create_server'],
    'flavor:instance': ['create_server'],
    'virtual:server': ['show_server', 'log_in'],
    'server booted': ['show_server', 'log_in'],
    'physical:storage': ['create_volume', 'create_volume'],
    'virtual:volume': ['attach_volume', 'attach_volume'],
    'virtual:stack': ['show_outputs'],
    # The room of the stack's servers is not for other servers.
    'made:stack': ['show_outputs'],
}
"""What the instructions for a lease are called."""


class TestInstructions(TestCase):
    """A lease of each type, before its start and while it is active."""

    def test_they_are_well_formed(self) -> None:
        for name, kind in KINDS.items():
            lease = Instructed(self.useFixture(World()), kind)
            self.assertEqual([], list(lease.complaints()), name)
            if name in NAMES:
                found = [one.name for each in lease.active.values() for one in each]
                self.assertEqual(NAMES[name], found, name)
