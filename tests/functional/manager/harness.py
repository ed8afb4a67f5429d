# SPDX-License-Identifier: Apache-2.0

"""A deployment on any of the databases that tests may use."""

from __future__ import annotations

from typing import Any

from climate.domain.leases import Lease
from climate.leases.settings import LeasingSettings
from climate.manager.service import Manager
from climate.manager.service import ManagerOptions
from climate.testing.deployment import at as at
from climate.testing.deployment import Bus as Bus
from climate.testing.deployment import CALLER as CALLER
from climate.testing.deployment import changed as changed
from climate.testing.deployment import Deployment
from climate.testing.deployment import NOW as NOW
from climate.testing.deployment import PROJECT as PROJECT
from climate.testing.deployment import SETTINGS
from climate.testing.deployment import twice as twice
from climate.testing.managers import CLAIM_SECONDS as CLAIM_SECONDS
from climate.testing.managers import SteppedManager as SteppedManager
from tests import base
from tests import databases
from tests import services
from tests.databases import fetch
from tests.functional import whole_leases

# The notifications of a lease that nothing disturbs, and how often each is sent.
ONCE = dict.fromkeys(('create', 'start_lease', 'before_end_lease', 'end_lease'), 1)
ONCE |= {'before_start_lease': 2}


class Site(Deployment):
    """A site of Climate: a deployment on a database of one kind."""

    def __init__(
        self, settings: LeasingSettings = SETTINGS, database: str = services.SQLITE, **facts: Any
    ) -> None:
        super().__init__(settings, databases.TabledDatabase(database), **facts)

    def every_lease(self) -> list[Lease]:
        """Return all leases but deleted ones, the oldest first."""
        return fetch(self.store, whole_leases.every)


class SiteCase(base.TestCase):
    """A test case with a site on SQLite."""

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(Site())


def running(site: Site, options: ManagerOptions, **listeners: Any) -> Manager:
    """Return a manager of a site, with threads of its own."""
    parts = ('store', 'plugins', 'cloud', 'clock', 'settings')
    found = {name: getattr(site, name) for name in parts}
    return Manager(options=options, publisher=site.bus, **found, **listeners)
