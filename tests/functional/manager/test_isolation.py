# SPDX-License-Identifier: Apache-2.0

"""Whole lives of leases on a Nova that keeps others off in each of its ways."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from climate.cloud.base import Aggregate
from climate.plugins.host.isolation import Isolation
from climate.simulator import SimulatedCloud
from tests import base
from tests import landing
from tests.functional.manager.harness import PROJECT
from tests.functional.manager.harness import Site
from tests.narrowing import present

CLOSED = {'filter_tenant_id': 'climate:nobody', 'trait:CUSTOM_CLIMATE_FREEPOOL': 'required'}
MARKS: dict[Isolation, tuple[dict[str, str], dict[str, str]]] = {
    Isolation.FILTER: ({}, {'blazar:owner': PROJECT}),
    Isolation.PLACEMENT: (CLOSED, {'filter_tenant_id': PROJECT}),
    Isolation.BOTH: (CLOSED, {'blazar:owner': PROJECT, 'filter_tenant_id': PROJECT}),
}
HOSTS = {'compute-1', 'compute-2', 'compute-3', 'compute-4'}
CHANGES = {'create_aggregate', 'set_aggregate_metadata', 'add_host', 'remove_host'}


class TestLives(base.TestCase):
    """The properties of aggregates in Nova from the first call to the last."""

    def site(self, isolation: Isolation) -> Site:
        site: Site = self.useFixture(Site(isolation=isolation))
        site.cloud.keep_journal()
        return site

    def marks(self, site: Site) -> dict[str, dict[str, str]]:
        return {item.name: dict(item.metadata) for item in site.cloud.aggregates()}

    def history(self, site: Site) -> Iterator[tuple[Any, tuple[Aggregate, ...]]]:
        """Do once more what was done, a call at a time.

        :returns: each call that changed aggregates, and what there was then
        """
        with contextlib.closing(SimulatedCloud(':memory:', clock=site.clock)) as cloud:
            cloud.seed(len(HOSTS))
            pool = present(cloud.compute.find_aggregate('freepool'))
            for host in HOSTS:
                cloud.compute.add_host(pool.id, host)
            cloud.compute.set_aggregate_metadata(pool.id, MARKS[site.isolation][0])
            for call in site.cloud.journal():
                name = call.verb.removeprefix('compute.')
                if name in CHANGES | {'delete_aggregate'}:
                    getattr(cloud.compute, name)(*call.arguments)
                    yield call, cloud.aggregates()

    def test_no_call_ever_opens_a_host(self) -> None:
        for isolation in Isolation:
            site = self.site(isolation)
            first = site.create(100, 1000, hosts=2)
            site.create(1000, 2000, hosts=4, until=500)
            site.update(first, hosts=3)
            site.until(600)
            site.boot(first)
            site.delete(site.create(2500, 9000, until=3000))
            site.until(4000)
            self.assertEqual(HOSTS, site.pooled())
            seen = set()
            for call, there in self.history(site):
                seen.add(call.verb.removeprefix('compute.'))
                for host in HOSTS:
                    around = [item.name for item in there if host in item.hosts]
                    self.assertIn(len(around), (1, 2), (isolation, call))
                    self.assertFalse(
                        landing.may_land('stranger', host, there, isolation), (isolation, call)
                    )
            self.assertEqual(CHANGES | {'delete_aggregate'}, seen)

    def test_the_marks_of_a_whole_life(self) -> None:
        for isolation, (pool, leased) in MARKS.items():
            site = self.site(isolation)
            self.assertEqual({'freepool': pool}, self.marks(site))
            lease = site.create(600, 2400, hosts=2)
            name = lease.reservations[0].id
            for seconds in (550, 700, 1700):
                site.until(seconds)
                self.assertEqual({'freepool': pool, name: leased}, self.marks(site), isolation)
            for host in site.hosts(lease):
                there = site.cloud.aggregates()
                self.assertTrue(landing.may_land(PROJECT, host, there, isolation))
            site.until(2500)
            self.assertEqual(({'freepool': pool}, HOSTS), (self.marks(site), site.pooled()))

    def test_another_isolation_while_a_lease_runs(self) -> None:
        site = self.site(Isolation.FILTER)
        lease = site.create(0, 9000, hosts=2)
        name = lease.reservations[0].id
        site.until(10)
        for number, isolation in enumerate(
            (Isolation.BOTH, Isolation.PLACEMENT, Isolation.BOTH, Isolation.FILTER), 1
        ):
            pool, leased = MARKS[isolation]
            site.configure(isolation)
            site.until(number * 1000)
            self.assertEqual({'freepool': pool, name: leased}, self.marks(site), isolation)
            self.assertEqual(('ACTIVE', 2), (site.status(lease), len(site.hosts(lease))))
        site.until(9100)
        self.assertEqual({'freepool': {}}, self.marks(site))

    def test_no_server_enters_while_the_servers_go(self) -> None:
        for isolation in Isolation:
            site = self.site(isolation)
            site.cloud.set_server_deletion_seconds(120)
            lease = site.create(0, 600, until=10)
            (host,) = site.hosts(lease)
            site.boot(lease)
            self.assertTrue(landing.may_land(PROJECT, host, site.cloud.aggregates(), isolation))
            site.until(660)
            self.assertEqual(('TERMINATING', {host}), (site.status(lease), site.hosts(lease)))
            for project in (PROJECT, 'stranger'):
                there = site.cloud.aggregates()
                self.assertFalse(landing.may_land(project, host, there, isolation), isolation)
            site.until(800)
            self.assertEqual(('TERMINATED', HOSTS), (site.status(lease), site.pooled()))
