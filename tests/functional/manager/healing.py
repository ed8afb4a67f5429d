# SPDX-License-Identifier: Apache-2.0

"""A site where hosts fail, and what one looks at there."""

from __future__ import annotations

import datetime
import functools
from typing import Any

from climate.booking.planning import relocation
from climate.domain.health import HostReport
from climate.domain.leases import Lease
from climate.upkeep.health import HostHealth
from climate.upkeep.rehoming import Rehoming
from tests import base
from tests import services
from tests.functional.manager import harness


class HealingCase(base.TestCase):
    """A site of four hosts where one may fail."""

    kind = services.SQLITE

    def setUp(self) -> None:
        super().setUp()
        self.site = self.open()

    def open(self, **changes: Any) -> harness.Site:
        settings = harness.changed(heal_horizon=datetime.timedelta(hours=2), **changes)
        self.site = self.useFixture(harness.Site(settings, database=self.kind))
        self.health = HostHealth(self.site.store, self.site.clock, self.site.plugins)
        return self.site

    def fail(self, *hosts: str) -> None:
        for host in hosts:
            self.site.cloud.set_hypervisor(host, state='down')
            self.health.receive(HostReport(service_host=host, fault='it was forced down'))

    def mend(self, *hosts: str) -> None:
        for host in hosts:
            self.site.cloud.set_hypervisor(host, state='up')
        self.site.away_until(self.site.seconds() + 1)
        self.health.look(self.site.cloud)

    def heal(self) -> int:
        """Do a round, and what comes of it."""
        site = self.site
        relocate = functools.partial(relocation.elsewhere, site.leases)
        healer = Rehoming(site.store, site.plugins, site.settings, relocate=relocate)
        changed = healer.round(site.cloud)
        site.work()
        return changed

    def names(self, lease: Lease) -> list[str]:
        return sorted(item.resource_name for item in self.site.allocations(lease))

    def flags(self, lease: Lease) -> tuple[bool, bool, bool]:
        """Return whether it is degraded, lacks something, got something else."""
        found = self.site.now(lease)
        (reservation,) = found.reservations
        return found.degraded, reservation.missing_resources, reservation.resources_changed

    def notified(self, lease: Lease) -> list[str]:
        return [one for one in self.site.bus.received(lease) if one in ('rehomed', 'degraded')]
