# SPDX-License-Identifier: Apache-2.0

"""A lease of one kind of the walk, of which something is promised."""

from __future__ import annotations

from climate.cloud import read_only
from climate.testing import promised
from climate.testing.promised import SETTINGS
from tests.functional.manager.walk.deployment import WalkDeployment
from tests.functional.manager.walk.kinds import KINDS

__all__ = ['SETTINGS', 'Promised']


class Promised:
    """A lease that was just booked.

    :ivar kind: by default of hosts, instances, addresses, networks and racks,
        all in one
    :ivar cloud_dir: directory of the state of the simulated cloud
    """

    kind = 'several'
    cloud_dir = ':memory:'

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(WalkDeployment(self.cloud_dir, SETTINGS))
        self.promised = promised.BookedLease(self.site, KINDS[self.kind])
        self.lease = self.promised.lease
        self.requests = self.promised.requests
        self.clean, self.bare = self.promised.clean, self.promised.bare
        self.left = self.promised.left

    def calls(self, until: float) -> list[str]:
        """Let time pass, and return the calls that changed the cloud."""
        cloud = self.site.cloud
        cloud.keep_journal()
        self.site.until(until)
        calls = [call.verb for call in cloud.journal()]
        cloud.keep_journal(False)
        return [verb for verb in calls if not read_only.is_read_only(verb)]
