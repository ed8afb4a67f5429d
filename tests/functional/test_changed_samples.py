# SPDX-License-Identifier: Apache-2.0

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
        service = self.closing(ways.Service(folder, SystemClock()))
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
