# SPDX-License-Identifier: Apache-2.0
"""A service that leases what Neutron has, from HTTP to SQL and to the cloud."""

from __future__ import annotations

import datetime
from typing import Any

from climate.domain.resources import Resource
from climate.domain.resources import ResourceDraft
from climate.manager.claims.claims import ClaimKeeper
from climate.manager.claims.worker import Worker
from climate.manager.periodic.repair import Repair
from climate.plugins.contract import Plugin
from climate.resources import changes
from tests import base
from tests.databases import fetch
from tests.functional import fixtures
from tests.functional import http
from tests.functional.manager.harness import SETTINGS

MINE = {'token': http.MEMBER, 'version': '1.1'}
START = fixtures.NOW.replace(second=0, microsecond=0) + datetime.timedelta(minutes=10)
END = START + datetime.timedelta(hours=1)


class NeutronCase(base.TestCase):
    """A service with a plugin and some resources, and a manager."""

    plugin: Plugin[Any]

    def serve(self, resource_type: str, *drafts: dict[str, Any]) -> None:
        """Start it, with resources of a type."""
        self.service = self.useFixture(fixtures.Service())
        self.cloud = self.service.cloud
        plugins = self.service.plugins
        plugin = self.plugin = plugins[resource_type]
        self.claims = ClaimKeeper(self.service.store, self.service.clock, 'manager', 10.0)
        self.worker = Worker(
            self.service.store, plugins, self.cloud, SETTINGS, self.claims, lambda: None
        )
        for attributes in drafts:
            draft = ResourceDraft(resource_type=plugin.resource_type, attributes=attributes)
            found = plugin.discover(draft, self.cloud)
            self.service.store.run(lambda tx, found=found: tx.resources.insert(found))

    def send(self, status: int, method: str, path: str, body: Any = None) -> Any:
        """Send a request of the member, and return the answer."""
        answer = http.expect(status, http.send(self.service.app, method, path, body, **MINE))
        return answer.json if answer.body else None

    def book(self, status: int = 201, start: datetime.datetime = START, **request: Any) -> Any:
        """Book a lease of one reservation."""
        body = {
            'name': 'l',
            'start_date': start.isoformat(),
            'end_date': END.isoformat(),
            'reservations': [{'resource_type': self.plugin.resource_type, **request}],
        }
        answer = self.send(status, 'POST', '/v1/leases', body)
        return answer['lease'] if status == 201 else answer

    def change(self, lease: dict[str, Any], status: int = 200, **request: Any) -> Any:
        """Change the reservation of a lease."""
        body = {'reservations': [{'id': self.reservation(lease)['id'], **request}]}
        return self.send(status, 'PUT', f'/v1/leases/{lease["id"]}', body)

    def now(self, lease: dict[str, Any]) -> dict[str, Any]:
        """Return a lease as it is now."""
        return dict(self.send(200, 'GET', f'/v1/leases/{lease["id"]}')['lease'])

    def reservation(self, lease: dict[str, Any]) -> dict[str, Any]:
        """Return the reservation of a lease as it is now."""
        (found,) = self.now(lease)['reservations']
        return dict(found)

    def until(self, instant: datetime.datetime) -> None:
        """Let time pass, and do what comes due."""
        while True:
            due = fetch(self.service.store, lambda tx: tx.claims.next_due())
            if due is None or due > instant:
                break
            self.service.clock.move_to(max(due, self.service.clock.now()))
            for lease_id in self.claims.take(8):
                self.worker.work(lease_id)
                self.claims.forget(lease_id)
        self.service.clock.move_to(max(instant, self.service.clock.now()))

    def repaired(self) -> list[str]:
        """Repair what can be, and return what was found: in a rehearsal the same."""
        store, clock = self.service.store, self.service.clock
        claims = ClaimKeeper(store, clock, 'repairer', 10.0)
        repair = Repair(store, self.service.services.plugins, self.cloud, clock, SETTINGS, claims)
        rehearsed = [item.what for item in repair.rehearse()]
        found = list(repair.run())
        self.assertEqual(rehearsed, [item.what for item in found])
        self.assertTrue(all(item.done for item in found), found)
        return rehearsed

    def compared(self) -> list[str]:
        """Compare the resources with the cloud, and return what was found."""
        store, plugins = self.service.store, self.service.services.plugins
        rehearsed = list(changes.compare(store, plugins, self.cloud, dry_run=True))
        found = list(changes.compare(store, plugins, self.cloud, dry_run=False))
        self.assertEqual(bool(rehearsed), bool(found))
        self.assertEqual([], list(changes.compare(store, plugins, self.cloud, dry_run=False)))
        return [item.what for item in found]

    def resource(self, name: str) -> Resource:
        """Return a resource whose name ends so."""
        with self.service.store.reading() as tx:
            known = tx.resources.of_type(self.plugin.resource_type)
        (found,) = (item for item in known if item.name.endswith(name))
        return found

    def later(self, seconds: float = 1) -> None:
        """Let a little time pass."""
        self.until(self.service.clock.now() + datetime.timedelta(seconds=seconds))

    def started(self, **request: Any) -> dict[str, Any]:
        """Return a lease that is active."""
        lease = self.book(**request)
        self.until(START)
        self.assertEqual('ACTIVE', self.now(lease)['status'])
        return dict(lease)

    def held(self) -> list[tuple[str, str]]:
        """Return what is allocated, and how: all that a search can meet."""
        with self.service.store.reading() as tx:
            lease_ids = [row[0] for row in self.service.rows()['leases']]
            found = [item for key in lease_ids for item in self.live(tx, key)]
        return sorted((item.resource_name.rpartition(':')[2], item.state.value) for item in found)

    def live(self, tx: Any, lease_id: str) -> list[Any]:
        """Return the allocations of a lease that are not given back."""
        lease = tx.leases.find(lease_id)
        ids = [item.id for item in lease.reservations] if lease else []
        return list(tx.allocations.live_of(ids)) if ids else []
