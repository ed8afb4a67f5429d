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

"""Every client has the verbs of the contract, with the same arguments."""

from __future__ import annotations

import inspect

import testtools

from climate import simulator
from climate.clients import base
from climate.clients import cinder
from climate.clients import glance
from climate.clients import heat
from climate.clients import keystone
from climate.clients import neutron
from climate.clients import nova
from climate.clients import placement
from climate.simulator.compute import SimulatedCompute
from climate.simulator.heat import SimulatedHeat
from climate.simulator.images import SimulatedImages
from climate.simulator.keystone import SimulatedKeystone
from climate.simulator.network import SimulatedNetworking
from climate.simulator.placement import SimulatedPlacement
from climate.simulator.volume import SimulatedBlockStorage


def verbs(kind: type) -> dict[str, inspect.Signature]:
    """Return the public methods of a class."""
    found = inspect.getmembers(kind, inspect.isfunction)
    return {name: inspect.signature(verb) for name, verb in found if not name.startswith('_')}


CLIENTS = {
    'compute': (base.Compute, SimulatedCompute, nova.NovaCompute),
    'placement': (base.Placement, SimulatedPlacement, placement.PlacementClient),
    'image': (base.ImageVerbs, SimulatedImages, glance.GlanceImages),
    'network': (base.Networking, SimulatedNetworking, neutron.NeutronNetworking),
    'orchestration': (base.Orchestration, SimulatedHeat, heat.HeatClient),
    'identity': (base.IdentityService, SimulatedKeystone, keystone.KeystoneClient),
    'volume': (base.BlockStorage, SimulatedBlockStorage, cinder.CinderBlockStorage),
}


class TestVerbs(testtools.TestCase):
    """The protocols, the simulated cloud and the real clients agree."""

    def test_every_client_has_the_verbs_of_its_protocol(self) -> None:
        for protocol, *clients in CLIENTS.values():
            for client in clients:
                self.assertEqual(verbs(protocol), verbs(client))

    def test_every_verb_can_be_made_to_fail(self) -> None:
        wanted = {
            f'{service}.{name}'
            for service, (protocol, *_) in CLIENTS.items()
            for name in verbs(protocol)
        }
        self.assertEqual(wanted, set(simulator.VERBS))
