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

"""The services of the twin, for its own user and for others."""

from __future__ import annotations

import functools

from climate.clients.fake import keystone
from climate.clients.fake.compute import FakeCompute
from climate.clients.fake.gate import Gate
from climate.clients.fake.heat import FakeHeat
from climate.clients.fake.images import FakeImages
from climate.clients.fake.keystone import FakeKeystone
from climate.clients.fake.network import FakeNetworking
from climate.clients.fake.placement import FakePlacement
from climate.clients.fake.volume import FakeBlockStorage


class Services:
    """Fulfils :class:`climate.clients.base.Cloud` behind a gate."""

    compute: FakeCompute
    placement: FakePlacement
    image: FakeImages
    network: FakeNetworking
    volume: FakeBlockStorage
    orchestration: FakeHeat
    identity: FakeKeystone

    def _open(self, gate: Gate) -> None:
        self._entrance = gate
        self.compute = FakeCompute(gate)
        self.placement = FakePlacement(gate)
        self.image = FakeImages(gate)
        self.network = FakeNetworking(gate)
        self.volume = FakeBlockStorage(gate)
        self.orchestration = FakeHeat(gate)
        self.identity = FakeKeystone(gate)

    def acting_for(self, trust_id: str) -> Services:
        """Return the cloud as the user sees it who made a trust."""
        return _of(
            self._entrance.under(
                functools.partial(keystone.project_of_trust, trust_id=trust_id),
                functools.partial(keystone.check_redelegation, trust_id=trust_id),
            )
        )

    def of_caller(self, token: str) -> Services:
        """Return the cloud as the owner of a token sees it."""
        return _of(self._entrance.under(functools.partial(keystone.project_of_token, token=token)))

    def as_service(self) -> Services:
        """Return the cloud as we see it ourselves."""
        return _of(self._entrance.own)


def _of(gate: Gate) -> Services:
    made = Services()
    made._open(gate)
    return made
