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

"""The contracts of Heat and Keystone, held against the cloud."""

from __future__ import annotations

from tests.contract import identity_contracts
from tests.contract import stack_contracts
from tests.contract import worlds


class TestMemoryCloudStack(stack_contracts.StackContract):
    """Heat's verbs on the simulated cloud in memory."""

    world_type = worlds.SimulatedWorld


class TestFileCloudStack(stack_contracts.StackContract):
    """Heat's verbs on the simulated cloud on a file."""

    world_type = worlds.FileSimulatedWorld


class TestMemoryCloudIdentity(identity_contracts.IdentityContract):
    """Keystone's verbs on the simulated cloud in memory."""

    world_type = worlds.SimulatedWorld


class TestFileCloudIdentity(identity_contracts.IdentityContract):
    """Keystone's verbs on the simulated cloud on a file."""

    world_type = worlds.FileSimulatedWorld


class TestStubTrusts(identity_contracts.TrustContract):
    """The real client of Keystone, against a stub that speaks HTTP."""

    world_type = worlds.StubWorld
