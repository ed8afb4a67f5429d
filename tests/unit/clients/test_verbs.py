# SPDX-License-Identifier: Apache-2.0

"""Every client has the verbs of the contract, with the same arguments."""

from __future__ import annotations

import inspect

from climate import simulator
from climate.cloud import base
from climate.cloud import cinder
from climate.cloud import glance
from climate.cloud import heat
from climate.cloud import keystone
from climate.cloud import neutron
from climate.cloud import nova
from climate.cloud import placement
from climate.simulator.compute import SimulatedCompute
from climate.simulator.heat import SimulatedHeat
from climate.simulator.images import SimulatedImages
from climate.simulator.keystone import SimulatedKeystone
from climate.simulator.network import SimulatedNetworking
from climate.simulator.placement import SimulatedPlacement
from climate.simulator.volume import SimulatedBlockStorage
from tests.base import TestCase


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


class TestVerbs(TestCase):
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
