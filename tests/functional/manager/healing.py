# SPDX-License-Identifier: Apache-2.0

"""An office where hosts fail, and what one looks at there."""

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
    """An office of four hosts where one may fail."""

    kind = services.SQLITE

    def setUp(self) -> None:
        super().setUp()
        self.office = self.open()

    def open(self, **changes: Any) -> harness.Office:
        settings = harness.changed(heal_horizon=datetime.timedelta(hours=2), **changes)
        self.office = self.useFixture(harness.Office(settings, database=self.kind))
        self.health = HostHealth(self.office.store, self.office.clock, self.office.plugins)
        return self.office

    def fail(self, *hosts: str) -> None:
        for host in hosts:
            self.office.cloud.set_hypervisor(host, state='down')
            self.health.receive(HostReport(service_host=host, fault='it was forced down'))

    def mend(self, *hosts: str) -> None:
        for host in hosts:
            self.office.cloud.set_hypervisor(host, state='up')
        self.office.away_until(self.office.seconds() + 1)
        self.health.look(self.office.cloud)

    def heal(self) -> int:
        """Do a round, and what comes of it."""
        office = self.office
        relocate = functools.partial(relocation.elsewhere, office.leases)
        healer = Rehoming(office.store, office.plugins, office.settings, relocate=relocate)
        changed = healer.round(office.cloud)
        office.work()
        return changed

    def names(self, lease: Lease) -> list[str]:
        return sorted(item.resource_name for item in self.office.allocations(lease))

    def flags(self, lease: Lease) -> tuple[bool, bool, bool]:
        """Return whether it is degraded, lacks something, got something else."""
        found = self.office.now(lease)
        (reservation,) = found.reservations
        return found.degraded, reservation.missing_resources, reservation.resources_changed

    def told(self, lease: Lease) -> list[str]:
        return [one for one in self.office.bus.received(lease) if one in ('rehomed', 'degraded')]
