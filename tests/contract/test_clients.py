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

"""The contract of the clients, held against every cloud there is."""

from __future__ import annotations

import os

from tests.contract import contracts
from tests.contract import placement_contracts
from tests.contract import worlds


class TestMemoryTwinCompute(contracts.ComputeContract):
    """Nova's verbs on the twin in memory."""

    world_type = worlds.TwinWorld


class TestMemoryTwinPlacement(placement_contracts.PlacementContract):
    """Placement's verbs on the twin in memory."""

    world_type = worlds.TwinWorld


class TestFileTwinCompute(contracts.ComputeContract):
    """Nova's verbs on the twin on a file."""

    world_type = worlds.FileTwinWorld


class TestFileTwinPlacement(placement_contracts.PlacementContract):
    """Placement's verbs on the twin on a file."""

    world_type = worlds.FileTwinWorld


class TestHTTPCompute(contracts.ComputeContract):
    """The client of Nova, over HTTP."""

    world_type = worlds.StubWorld


class TestHTTPPlacement(placement_contracts.PlacementContract):
    """The client of Placement, over HTTP."""

    world_type = worlds.StubWorld


if os.environ.get(worlds.REAL_CLOUD):

    class TestRealCompute(contracts.ComputeContract):
        """The client of Nova, on a real one."""

        world_type = worlds.RealWorld

    class TestRealPlacement(placement_contracts.PlacementContract):
        """The client of Placement, on a real one."""

        world_type = worlds.RealWorld
