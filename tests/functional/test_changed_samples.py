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

"""A trial of changed hosts does not keep climate-standalone from starting again."""

from __future__ import annotations

import pathlib

import fixtures

from climate.clock import SystemClock
from climate.cmd import samples
from tests import base
from tools import ways


class TestChangedHosts(base.TestCase):
    """Hosts that cannot be registered are logged."""

    def test_a_name_and_a_node_that_are_not_registered(self) -> None:
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        service = ways.Service(folder, SystemClock())
        self.addCleanup(service.close)
        service.cloud.rename_hypervisor('compute-2', 'compute-2.example.org')
        service.cloud.add_node('compute-1', 'node-2')
        service.cloud.furnish(4)
        log = self.useFixture(fixtures.FakeLogger())
        samples.register(service.parts, service.cloud)
        for name in ('compute-2.example.org', 'node-2'):
            self.assertIn(f'physical:host {name} was not registered', log.output)
        with service.parts.store.reading() as tx:
            names = sorted(one.name for one in tx.resources.of_type('physical:host'))
        self.assertEqual(['compute-1', 'compute-2', 'compute-3', 'compute-4'], names)
