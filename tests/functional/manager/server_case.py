# SPDX-License-Identifier: Apache-2.0
"""A project with a server, in a cloud where things take their time."""

from __future__ import annotations

from typing import Any

from climate.cloud.base import Server
from climate.domain.leases import Lease
from tests import base
from tests.functional.manager import harness
from tests.functional.manager.walk import servers
from tests.functional.manager.walk.deployment import WalkDeployment

POOL = {'compute-1', 'compute-2', 'compute-3', 'compute-4'}


class ServerCase(base.TestCase):
    """A project with a server, in a cloud where everything takes a second."""

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(WalkDeployment())
        self.cloud = self.site.cloud
        self.cloud.put_member('alice', harness.PROJECT, 'member')
        for what in ('server_action', 'image', 'server_creation', 'server_deletion'):
            self.cloud.set_seconds(what, 1)
        (self.wish,) = servers.own(self.cloud)
        self.cloud.add_hypervisor('ordinary-1')
        self.site.until(5)

    def book(self, start: float = 100, end: float = 3600, **changes: Any) -> Lease:
        """Lease the server."""
        return self.site.book([{**self.wish, **changes}], start, end)

    def server(self) -> Server:
        """Return the only server."""
        (found,) = self.cloud.servers()
        return found

    def status(self) -> str:
        """Return the status of the server; 'gone' if it is."""
        return self.server().status if self.cloud.servers() else 'gone'

    def statuses_at(self, seconds: float, lease: Lease) -> tuple[str, str]:
        """Let time pass until then, and return the statuses of the server and of its lease."""
        self.site.until(seconds)
        return self.status(), self.site.status(lease)

    def images(self) -> list[tuple[str, str]]:
        """Return the states and the owners of the images of the server."""
        return [
            (image.status, image.owner)
            for image in self.cloud.images()
            if image.name == servers.IMAGE
        ]

    def pool(self) -> set[str]:
        """Return the hosts in the pool."""
        (pool,) = (each for each in self.cloud.aggregates() if each.name == 'freepool')
        return set(pool.hosts)

    def reasons(self, lease: Lease) -> str:
        """Return why something failed, by the notification."""
        return '; '.join(self.site.reasons(lease))
