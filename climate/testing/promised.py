# SPDX-License-Identifier: Apache-2.0

"""A booked lease of one kind, and a check of what it leaves."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from climate.testing import restorable
from climate.testing.kinds import LeasedType
from climate.testing.kinds import TypeRegistrar
from climate.testing.restorable import RestorableDeployment
from climate.testing.walker import END
from climate.testing.walker import START

# Long enough for another manager to take over before an effect is given up.
SETTINGS = dataclasses.replace(restorable.SETTINGS, effect_deadline=datetime.timedelta(seconds=60))


class BookedLease:
    """A lease that was just booked.

    :ivar clean: the contents of the cloud before the lease; see :meth:`bare`
    :ivar requests: its reservations, as they were requested
    :ivar lease: the lease, from :data:`START` to :data:`END`
    """

    def __init__(self, site: RestorableDeployment, kind: LeasedType) -> None:
        self._site = site
        self._kind = kind
        self.requests = kind.furnish(TypeRegistrar(site.store, site.plugins, site.cloud))
        self.clean = self.bare()
        site.rng.seed(7)
        self.lease = site.book(self.requests, START, END)

    def bare(self) -> Mapping[str, Any]:
        """Return the contents of the cloud, without objects left on purpose."""
        state = self._site.cloud.state()
        self._kind.put_away(self._site.cloud)
        contents = self._site.cloud.contents()
        self._site.cloud.restore(state)
        return self._kind.same(contents)

    def left(self) -> Iterator[str]:
        """Yield what the lease, which has ended, has left or lost."""
        there = self.bare()
        yield from (table for table, rows in self.clean.items() if there[table] != rows)
        yield from (finding.what for finding in self._site.repair().rehearse())
        yield from (item.resource_name for item in self._site.allocations(self.lease))
        wrong = self._kind.wrong(self._site.cloud)
        if wrong:
            yield wrong
