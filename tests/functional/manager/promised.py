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
"""A lease of one kind of the walk, of which something is promised."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from climate.clients import rehearsal
from tests.functional.manager.walk import world
from tests.functional.manager.walk.kinds import KINDS
from tests.functional.manager.walk.kinds import Place
from tests.functional.manager.walk.walker import END
from tests.functional.manager.walk.walker import START
from tests.functional.manager.walk.world import World

# Long enough for another manager to take over before anything is given up.
SETTINGS = dataclasses.replace(world.SETTINGS, effect_deadline=datetime.timedelta(seconds=60))


class Promised:
    """A lease that was just booked.

    :ivar kind: by default of hosts, instances, addresses, networks and racks,
        all in one
    :ivar cloud: where the twin is
    """

    kind = 'several'
    cloud = ':memory:'

    def setUp(self) -> None:
        super().setUp()
        self.world = self.useFixture(World(self.cloud, SETTINGS))
        self.requests = KINDS[self.kind].furnish(
            Place(self.world.store, self.world.plugins, self.world.twin)
        )
        self.clean = self.bare()
        self.world.rng.seed(7)
        self.lease = self.world.book(self.requests, START, END)

    def bare(self) -> Mapping[str, Any]:
        """Return what the cloud has, without what a lease leaves on purpose."""
        state = self.world.twin.state()
        KINDS[self.kind].put_away(self.world.twin)
        contents = self.world.twin.contents()
        self.world.twin.restore(state)
        return KINDS[self.kind].same(contents)

    def calls(self, until: float) -> list[str]:
        """Let time pass, and return the calls that changed the cloud."""
        twin = self.world.twin
        twin.keep_journal()
        self.world.until(until)
        calls = [call.verb for call in twin.journal()]
        twin.keep_journal(False)
        return [verb for verb in calls if not rehearsal.looks(verb)]

    def left(self) -> Iterator[str]:
        """Yield what a lease that is over has left, or lost."""
        there = self.bare()
        yield from (table for table, rows in self.clean.items() if there[table] != rows)
        yield from (finding.what for finding in self.world.repair().rehearse())
        yield from (item.resource_name for item in self.world.allocations(self.lease))
        wrong = KINDS[self.kind].wrong(self.world.twin)
        if wrong:
            yield wrong
