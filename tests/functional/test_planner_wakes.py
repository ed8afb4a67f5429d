# SPDX-License-Identifier: Apache-2.0

"""Whatever frees capacity makes the next plan give it to flexible leases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from climate.resources.registrar import Registrar
from climate.upkeep.planning import Planner
from tests import base
from tests import drafts
from tests.functional import fixtures
from tests.functional import http
from tests.functional.manager.harness import at
from tests.functional.manager.harness import Site

START, END = '2030-01-02T00:00:00Z', '2030-01-02T06:00:00Z'
FIXED = {'start_date': START, 'end_date': END}
ADMIN = 'root:ops:admin'
HOSTS = 4

Freeing = Callable[[], object]


def one(hosts: int) -> dict[str, Any]:
    """Return a reservation of some hosts."""
    return {'resource_type': 'physical:host', 'min': hosts, 'max': hosts}


class TestWakes(base.TestCase):
    """A service with four hosts, of which none is free for six hours."""

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(fixtures.Service(hosts=HOSTS))
        self.planner = Planner(self.service.services.leases)

    def send(self, method: str, path: str, body: Any = None, token: str = ADMIN) -> Any:
        answer = http.send(
            self.service.app, method, f'/v1/{path}', body, token=token, version='1.8'
        )
        self.assertLess(answer.status_int, 300, answer.text)
        return answer.json if answer.text else None

    def lease(self, hosts: int, **facts: Any) -> dict[str, Any]:
        self.service.clock.advance(1)
        body = {'name': 'a', 'reservations': [one(hosts)], **facts}
        found: dict[str, Any] = self.send('POST', 'leases', body)['lease']
        return found

    def change(self, path: str, **body: Any) -> Freeing:
        return lambda: self.send('PUT', path, body)

    def check(self, blocked: int, free: Freeing, hour: int = 0) -> None:
        """Check that a lease moves, and that another is booked that has waited.

        :param blocked: how many hosts are not free already
        :param hour: from when on one is free then
        """
        self.lease(HOSTS - blocked, **FIXED)
        window = {'earliest': START, 'duration': '1h'}
        moves = self.lease(1, **window)
        waits = self.lease(1, **window, latest=END, wait=True)
        self.assertEqual((END, 'WAITING'), (moves['start_date'], waits['status']))
        self.planner.round()
        self.assertEqual(0, self.planner.round())
        free()
        self.assertEqual(2, self.planner.round())
        found = [self.send('GET', f'leases/{each["id"]}')['lease'] for each in (moves, waits)]
        starts = [f'2030-01-02T0{each}:00:00Z' for each in (hour, hour + 1)]
        self.assertEqual(starts, [each['start_date'] for each in found])

    def test_a_lease_is_deleted(self) -> None:
        path = f'leases/{self.lease(1, **FIXED)["id"]}'
        self.check(1, lambda: self.send('DELETE', path))

    def test_a_lease_ends_earlier(self) -> None:
        path = f'leases/{self.lease(1, **FIXED)["id"]}'
        self.check(1, self.change(path, end_date='2030-01-02T02:00:00Z'), hour=2)

    def test_a_lease_begins_later(self) -> None:
        path = f'leases/{self.lease(1, **FIXED)["id"]}'
        self.check(1, self.change(path, start_date='2030-01-02T04:00:00Z'))

    def test_a_lease_has_less(self) -> None:
        lease = self.lease(2, **FIXED)
        fewer = {**one(1), 'id': lease['reservations'][0]['id']}
        self.check(2, self.change(f'leases/{lease["id"]}', reservations=[fewer]))

    def test_a_hold_expires(self) -> None:
        body = {'reservations': [one(1)], 'duration': '6h', 'earliest': START, 'limit': 1}
        (offer,) = self.send('POST', 'offers', {**body, 'hold': '120s'}, http.MEMBER)['offers']
        self.assertEqual(START, offer['start_date'])
        self.check(1, lambda: self.service.clock.advance(121))

    def test_a_hold_is_given_up(self) -> None:
        body = {'reservations': [one(1)], 'duration': '6h', 'earliest': START, 'limit': 1}
        (offer,) = self.send('POST', 'offers', {**body, 'hold': '120s'}, http.MEMBER)['offers']
        self.check(1, lambda: self.send('DELETE', f'offers/{offer["id"]}', token=http.MEMBER))

    def test_a_host_is_enabled(self) -> None:
        self.send('PUT', 'resources/4', {'disabled': True})
        self.check(1, self.change('resources/4', disabled=False))

    def test_a_host_works_again(self) -> None:
        store, now = self.service.store, self.service.clock.now
        store.run(lambda tx: tx.failures.fail([4]))
        self.check(1, lambda: store.run(lambda tx: tx.failures.recover([4], now())))

    def test_a_host_is_usable_again(self) -> None:
        def set_usable(works: bool) -> None:
            self.service.store.run(
                lambda tx: tx.failures.set_degraded(4, 'a', unusable=not works, works=works)
            )

        set_usable(False)
        self.check(1, lambda: set_usable(True))

    def test_a_host_is_added(self) -> None:
        service = self.service
        registrar = Registrar(service.store, service.plugins, service.cloud)
        registrar.delete_resource(4)
        self.check(1, lambda: registrar.register_resource(drafts.host('compute-4')))

    def test_a_maintenance_is_cancelled(self) -> None:
        path = self.maintenance()
        self.check(1, lambda: self.send('DELETE', path))

    def test_a_maintenance_is_shorter(self) -> None:
        self.check(1, self.change(self.maintenance(), end_date='2030-01-02T02:00:00Z'), hour=2)

    def maintenance(self) -> str:
        """Have a host maintained; return the path of the maintenance."""
        body = {'resource_id': '4', **FIXED, 'reason': 'a'}
        return f'maintenances/{self.send("POST", "maintenances", body)["maintenance"]["id"]}'


class TestEarlyEnds(base.TestCase):
    """A deployment with three hosts, all of which one lease uses."""

    def test_a_lease_ends_early(self) -> None:
        site = self.useFixture(Site())
        planner = Planner(site.leases)
        fixed = site.create(0, 9000, hosts=3)
        site.until(60)
        self.assertEqual('ACTIVE', site.status(fixed))
        window = {'earliest': at(120), 'hosts': 3}
        moves = site.create(120, 1320, **window)
        site.until(61)
        waits = site.create(120, 1320, **window, latest=at(9000), waits=True)
        self.assertEqual((at(9000), 'WAITING'), (moves.period.start, site.status(waits)))
        planner.round()
        self.assertEqual(0, planner.round())
        site.update(fixed, end=90)
        site.until(100)
        self.assertEqual(2, planner.round())
        starts = [site.now(one).period.start for one in (moves, waits)]
        self.assertEqual([at(120), at(1320)], starts)
