# SPDX-License-Identifier: Apache-2.0

"""Each call of each effect fails in turn, in situations that the walk does not have.

There, others have a part of the cloud, and nothing of theirs may be touched at
any moment; or somebody has changed what a lease has.
"""

from __future__ import annotations

from climate.plugins.host.isolation import Isolation
from tests.unit.plugins import every_call
from tests.unit.plugins import test_floating_ip_effects
from tests.unit.plugins import test_host_effects
from tests.unit.plugins import test_instance_effects
from tests.unit.plugins import test_isolation
from tests.unit.plugins import test_network_effects


class TestHosts(every_call.EachCallFails, test_host_effects.TestEveryCase):
    """Whole hosts."""


class TestInstances(every_call.EachCallFails, test_instance_effects.TestEveryCase):
    """Room for servers."""


class TestNetworks(every_call.EachCallFails, test_network_effects.TestEveryCase):
    """Segments."""


class TestFloatingIPs(every_call.EachCallFails, test_floating_ip_effects.TestEveryCase):
    """Floating IPs."""


class TestIsolation(test_isolation.EveryMode):
    """Nothing is open to others, whichever call fails."""

    def test_each_call_of_each_effect_fails_once(self) -> None:
        tried = 0
        for case in test_host_effects.CASES:
            for nth in range(1, self.calls(Isolation.PLACEMENT, case) + 1):
                for when in ('before', 'after'):
                    self.tried(Isolation.PLACEMENT, case, nth, when)
                    tried += 1
        self.assertGreater(tried, 150)
