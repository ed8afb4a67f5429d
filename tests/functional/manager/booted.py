# SPDX-License-Identifier: Apache-2.0

"""Servers that are booted, and managers that give them leases."""

from __future__ import annotations

import random
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from climate.booking.leases import Leases
from climate.cloud.base import Server
from climate.db.schema import tables
from climate.domain.leases import Lease
from climate.domain.requests import Caller
from climate.manager.default_leases.server_lease_settings import RESOURCE_TYPE
from climate.manager.default_leases.server_lease_settings import ServerLeaseSettings
from climate.manager.default_leases.server_leases import ServerLeases
from climate.plugins.instance.by_flavor import FlavorInstance
from climate.plugins.instance.by_flavor import RESOURCE_TYPE as ROOM_TYPE
from climate.plugins.server.plugin import VirtualServer
from tests import services
from tests.base import TestCase
from tests.databases import fetch
from tests.functional import whole_leases
from tests.functional.manager import harness
from tests.narrowing import present

HINT = '{"name": "then", "start": "now", "end": "2030-01-01 13:00"}'
ON = ServerLeaseSettings(enabled=True)


class BootedCase(TestCase):
    """A site whose managers give servers leases."""

    kind = services.SQLITE

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(harness.Site(database=self.kind))
        self.site.plugins.update({RESOURCE_TYPE: VirtualServer(), ROOM_TYPE: FlavorInstance()})
        self.cloud = self.site.cloud
        self.keeper = self.add_manager()

    def add_manager(
        self,
        settings: ServerLeaseSettings = ON,
        cloud: Any = None,
        may: Callable[[Caller], bool] | None = None,
    ) -> ServerLeases:
        """Return what one more manager does about servers."""
        site, own = self.site, cloud or self.cloud
        parts = (site.store, site.plugins, site.clock, site.settings)
        leases = Leases(*parts, lambda: None, random.Random(7), lambda _caller: own)
        owner = f'manager-{random.random()}'
        return ServerLeases(site.store, leases, site.clock, settings, own, owner, may)

    def boot(
        self, hint: object = None, flavor: str = '2', project_id: str = 'blue', **said: str
    ) -> Server:
        """Boot a server that says something of a lease."""
        metadata = {f'climate:{key}': value for key, value in said.items()}
        hints = {} if hint is None else {'lease_params': hint}
        facts = {'metadata': metadata, 'hints': hints, 'user_id': 'alice'}
        return self.cloud.boot_server('compute-1', project_id, 'vm', flavor, **facts)

    def of_a_server(self, lease: Lease, facts: Mapping[str, Any]) -> str:
        """Let a lease be of a server that it boots; return the id of its reservation."""
        reservation_id = lease.reservations[0].id
        table = tables.RESERVATIONS
        change = {
            'resource_type': RESOURCE_TYPE,
            'request': {'draft': {'name': 'vm'}},
            'facts': dict(facts),
        }
        query = sa.update(table).where(table.c.id == reservation_id).values(**change)
        self.site.store.run(lambda tx: tx.session.execute(query) and None)
        return reservation_id

    def metadata(self, server: Server) -> dict[str, str]:
        """Return what the metadata of a server say of its lease."""
        found = present(self.cloud.compute.find_server(server.id))
        keys = ('climate:lease_id', 'climate:lease_error')
        return {key: found.metadata[key] for key in keys if found.metadata.get(key)}

    def leases(self) -> list[Lease]:
        """Return all leases, the oldest first."""
        return fetch(self.site.store, whole_leases.every)
