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

from climate.clients import base
from climate.clients import fake
from climate.clients import nova
from climate.clients import placement
from climate.clients.fake.compute import FakeCompute
from climate.clients.fake.placement import FakePlacement


def verbs(kind: type) -> dict[str, inspect.Signature]:
    """Return the public methods of a class."""
    found = inspect.getmembers(kind, inspect.isfunction)
    return {name: inspect.signature(verb) for name, verb in found if not name.startswith('_')}


class TestVerbs(testtools.TestCase):
    """The protocols, the twin and the real clients agree."""

    def test_compute(self) -> None:
        for client in (FakeCompute, nova.NovaCompute):
            self.assertEqual(verbs(base.Compute), verbs(client))

    def test_placement(self) -> None:
        for client in (FakePlacement, placement.PlacementClient):
            self.assertEqual(verbs(base.Placement), verbs(client))

    def test_every_verb_can_be_made_to_fail(self) -> None:
        wanted = {f'compute.{name}' for name in verbs(base.Compute)}
        wanted |= {f'placement.{name}' for name in verbs(base.Placement)}
        self.assertEqual(wanted, set(fake.VERBS))
