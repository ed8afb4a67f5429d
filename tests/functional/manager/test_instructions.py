# SPDX-License-Identifier: Apache-2.0

"""Each type says what people do with its reservations."""

from __future__ import annotations

from climate.testing.instructed import Instructed
from tests.base import TestCase
from tests.functional.manager.walk.deployment import WalkDeployment
from tests.functional.manager.walk.kinds import KINDS

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
            lease = Instructed(self.useFixture(WalkDeployment()), kind)
            self.assertEqual([], list(lease.complaints()), name)
            if name in NAMES:
                found = [one.name for each in lease.active.values() for one in each]
                self.assertEqual(NAMES[name], found, name)
