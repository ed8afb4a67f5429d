# SPDX-License-Identifier: Apache-2.0

"""A booked lease of one kind, and a check of what it leaves."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from climate.testing import world as worlds
from climate.testing.kinds import LeasedType
from climate.testing.kinds import TypeRegistrar
from climate.testing.walker import END
from climate.testing.walker import START
from climate.testing.world import World

# Long enough for another manager to take over before an effect is given up.
SETTINGS = dataclasses.replace(worlds.SETTINGS, effect_deadline=datetime.timedelta(seconds=60))


class BookedLease:
    """A lease that was just booked.

    :ivar clean: the contents of the cloud before the lease; see :meth:`bare`
    :ivar requests: its reservations, as they were requested
    :ivar lease: the lease, from :data:`START` to :data:`END`
    """

    def __init__(self, world: World, kind: LeasedType) -> None:
        self._world = world
        self._kind = kind
        self.requests = kind.furnish(TypeRegistrar(world.store, world.plugins, world.cloud))
        self.clean = self.bare()
        world.rng.seed(7)
        self.lease = world.book(self.requests, START, END)

    def bare(self) -> Mapping[str, Any]:
        """Return the contents of the cloud, without objects left on purpose."""
        state = self._world.cloud.state()
        self._kind.put_away(self._world.cloud)
        contents = self._world.cloud.contents()
        self._world.cloud.restore(state)
        return self._kind.same(contents)

    def left(self) -> Iterator[str]:
        """Yield what the lease, which has ended, has left or lost."""
        there = self.bare()
        yield from (table for table, rows in self.clean.items() if there[table] != rows)
        yield from (finding.what for finding in self._world.repair().rehearse())
        yield from (item.resource_name for item in self._world.allocations(self.lease))
        wrong = self._kind.wrong(self._world.cloud)
        if wrong:
            yield wrong
