# SPDX-License-Identifier: Apache-2.0

"""Cloud and leases that have drifted apart are brought together again."""

from __future__ import annotations

import datetime

import sqlalchemy as sa

from climate import exceptions
from climate.domain.leases import Lease
from climate.manager.claims.worker import Worker
from climate.manager.periodic.repair_thread import RepairThread
from climate.plugins.contract import SweepFinding
from tests.functional.manager import harness
from tests.functional.manager.harness import SiteCase
from tests.stalls import Once

ALL = {'compute-1', 'compute-2', 'compute-3', 'compute-4'}
UNKNOWN = '00000000-1111-2222-3333-444444444444'


class _Test(SiteCase):
    def setUp(self) -> None:
        super().setUp()
        self.cloud = self.site.cloud

    def rehearse(self, lease_id: str | None = None) -> list[SweepFinding]:
        """Return what a dry run finds, which must be nothing that it did."""
        before = self.cloud.contents()
        found = list(self.site.repair().rehearse(lease_id=lease_id))
        self.assertEqual(before, self.cloud.contents())
        self.assertEqual({''}, {item.done for item in found} | {''})
        return found

    def repair(self, lease_id: str | None = None) -> list[SweepFinding]:
        """Repair, and return what was found."""
        return list(self.site.repair().run(lease_id=lease_id))

    def mended(self, words: str) -> None:
        """Expect one thing to be found and mended, and nothing afterwards."""
        for found in (self.rehearse(), self.repair()):
            self.assertEqual(1, len(found), found)
            self.assertIn(words, found[0].what)
        self.assertNotEqual('', found[0].done)
        self.assertEqual(([], []), (self.rehearse(), self.repair()))

    def active(self, hosts: int = 1) -> tuple[Lease, int]:
        """Return an active lease, and the id of its aggregate."""
        lease = self.site.create(0, 3600, hosts, until=10)
        (mine,) = (
            item.id for item in self.cloud.aggregates() if item.name == lease.reservations[0].id
        )
        return lease, mine

    @property
    def pool(self) -> int:
        """The id of the freepool."""
        (found,) = (item.id for item in self.cloud.aggregates() if item.name == 'freepool')
        return found


class TestLeftovers(_Test):
    """What leases that are over have left."""

    def left_behind(self) -> Lease:
        """Return a lease that was deleted, and whose end never reached the cloud."""
        lease, _ = self.active(2)
        state = self.cloud.state()
        self.site.delete(lease)
        self.assertEqual('gone', self.site.status_at(20, lease))
        self.cloud.restore(state)
        return lease

    def test_nothing(self) -> None:
        self.active()
        self.assertEqual(([], []), (self.rehearse(), self.repair()))

    def test_aggregate(self) -> None:
        self.left_behind()
        self.mended('of a lease that is over with compute-')
        self.assertEqual(ALL, self.site.pooled())

    def test_of_one_lease_only(self) -> None:
        one = self.left_behind()
        self.assertEqual([], self.repair(self.site.create(30, 40, until=50).id))
        self.assertEqual(1, len(self.rehearse(one.id)))
        self.assertEqual('deleted', self.repair(one.id)[0].done)
        self.assertEqual([], self.rehearse())
        self.assertRaises(exceptions.NotFound, self.repair, UNKNOWN)

    def test_each_call_fails_once(self) -> None:
        """Whatever it could not do is said, and done the next time."""
        self.left_behind()
        state = self.cloud.state()
        for verb in ('list_aggregates', 'list_servers', 'set_aggregate_metadata', 'add_host',
                     'remove_host', 'delete_aggregate', 'find_aggregate'):  # fmt: skip
            for when in ('before', 'after'):
                self.cloud.restore(state)
                # The comparison of the hosts with Nova lists the aggregates first.
                skip = 1 if verb == 'list_aggregates' else 0
                self.cloud.fail(f'compute.{verb}', when=when, skip=skip)
                (found,) = self.repair()
                self.assertEqual('', found.done, verb)
                self.cloud.heal()
                self.repair()
                self.assertEqual(([], ALL), (self.rehearse(), self.site.pooled()), verb)

    def test_servers_in_it_are_left_to_operators(self) -> None:
        self.left_behind()
        (host, *_) = ALL - self.site.pooled()
        server = self.cloud.boot_server(host, harness.PROJECT, 'x')
        (found,) = self.repair()
        self.assertEqual(('', True), (found.done, f'servers on {host}' in found.what))
        self.assertEqual([server.id], [item.id for item in self.cloud.servers()])

    def test_what_is_not_ours_is_reported_only(self) -> None:
        made = self.cloud.compute.create_aggregate(UNKNOWN, f'blazar_{UNKNOWN}')
        self.cloud.compute.create_aggregate('operators-own', 'zone-7')
        self.cloud.compute.create_aggregate('blazar_x', None)
        self.cloud.add_hypervisor('other')
        self.cloud.compute.add_host(made.id, 'other')
        before = self.cloud.contents()
        (found,) = self.repair()
        self.assertEqual('', found.done)
        self.assertIn(f'aggregate {UNKNOWN} is of a reservation that is not known', found.what)
        self.assertEqual(before, self.cloud.contents())

    def test_a_host_let_go_meanwhile_is_not_for_leases_any_more(self) -> None:
        self.left_behind()
        gone = sorted(ALL - self.site.pooled())[0]
        with self.site.store.engine.begin() as connection:
            connection.execute(
                sa.text('UPDATE resources SET deleted = id WHERE name = :name'), {'name': gone}
            )
        self.mended('of a lease that is over')
        self.assertEqual([], self.site.places()[gone])


class TestHosts(_Test):
    """Hosts in the wrong place."""

    def test_nowhere(self) -> None:
        self.cloud.compute.remove_host(self.pool, 'compute-2')
        self.mended('host compute-2 is in no lease and not in freepool')
        self.assertEqual(ALL, self.site.pooled())

    def test_leased_and_nowhere(self) -> None:
        lease, mine = self.active()
        (host,) = self.site.hosts(lease)
        self.cloud.compute.remove_host(mine, host)
        self.assertTrue(self.repair())
        self.assertEqual({host}, self.site.hosts(lease))
        self.assertEqual(ALL - {host}, self.site.pooled())
        self.assertEqual([], self.rehearse())

    def test_leased_and_in_the_pool(self) -> None:
        lease, _ = self.active()
        (host,) = self.site.hosts(lease)
        self.cloud.compute.add_host(self.pool, host)
        self.mended(f'lease {lease.id}: host {host} was in aggregate freepool as well')

    def test_aggregate_of_an_active_lease_is_gone(self) -> None:
        lease, mine = self.active()
        (host,) = self.site.hosts(lease)
        self.cloud.compute.remove_host(mine, host)
        self.cloud.compute.add_host(self.pool, host)
        self.cloud.compute.delete_aggregate(mine)
        self.assertIn('compute.create_aggregate', self.rehearse()[0].what)
        self.repair()
        self.assertEqual(({host}, []), (self.site.hosts(lease), self.rehearse()))

    def test_unknown_to_nova(self) -> None:
        self.cloud.remove_hypervisor('compute-3')
        (found,) = self.repair()
        self.assert_has(
            found, what='host compute-3 is registered, and Nova does not know it', done=''
        )

    def test_being_registered_is_left_alone(self) -> None:
        self.cloud.compute.remove_host(self.pool, 'compute-2')
        with self.site.store.engine.begin() as connection:
            connection.execute(
                sa.text("UPDATE resources SET reservable = 0 WHERE name = 'compute-2'")
            )
        self.assertEqual(([], []), (self.rehearse(), self.repair()))

    def test_cloud_is_unavailable(self) -> None:
        lease, _ = self.active()
        self.cloud.reachable = False
        for found in (self.rehearse(), self.repair()):
            self.assertEqual(2, len(found))
            self.assertIn(f'lease {lease.id}: ', found[0].what)
            self.assertIn('physical:host cannot be swept', found[1].what)
        self.cloud.reachable = True
        self.assertEqual(([], []), (self.repair(), self.rehearse()))
        self.assertEqual('ACTIVE', self.site.status(lease))


class TestStore(_Test):
    """The store contradicts itself."""

    def execute(self, sql: str) -> None:
        """Do what nobody should."""
        with self.site.store.engine.begin() as connection:
            connection.execute(sa.text(sql))

    def test_allocation_of_a_lease_that_is_over(self) -> None:
        lease = self.site.create(0, 100, until=200)
        self.execute("UPDATE allocations SET state = 'held'")
        self.mended(f'lease {lease.id} has ended and still has physical:host compute-')
        self.assertEqual([], self.site.allocations(lease))

    def test_lease_that_no_event_processes(self) -> None:
        lease = self.site.create(100, 1000)
        self.execute('UPDATE leases SET next_due = NULL')
        self.mended(f'lease {lease.id} is not processed when its events are due')
        self.assertEqual('ACTIVE', self.site.status_at(150, lease))


class TestOneAtATime(_Test):
    """Managers do not repair all at once, nor work on one lease twice."""

    def test_claimed_leases_are_left_to_their_manager(self) -> None:
        lease, _ = self.active()
        (host,) = self.site.hosts(lease)
        self.cloud.compute.add_host(self.pool, host)
        self.site.update(lease, hosts=2)
        self.site.add_manager().die_after('begin')
        self.assertEqual([], self.repair())
        self.assertIn(host, self.cloud.compute.list_aggregates()[0].hosts)

    def test_a_second_one_is_refused_until_the_first_is_done_or_dead(self) -> None:
        self.cloud.compute.remove_host(self.pool, 'compute-2')
        first = self.site.repair().run()
        next(first)
        self.assertRaises(exceptions.Conflict, self.repair)
        first.close()
        self.assertEqual([], self.repair())
        first = self.site.repair().run()
        self.cloud.compute.remove_host(self.pool, 'compute-2')
        next(first)
        self.site.clock.advance(700)
        self.assertEqual([], self.repair())
        self.assertEqual([], list(first))

    def test_periodically(self) -> None:
        threads = [RepairThread(self.site.repair(), self.site.clock, 1000.0) for _ in range(2)]
        self.cloud.compute.remove_host(self.pool, 'compute-2')
        # It is first done one interval after the first manager was there.
        self.assertEqual([0, 0], [thread.look() for thread in threads])
        self.site.clock.advance(999)
        self.assertEqual([0, 0], [thread.look() for thread in threads])
        for thread in threads:
            self.assertTrue(1.0 <= thread.pause() <= 101.0)
        self.site.clock.advance(1)
        self.assertEqual([1, 0], [thread.look() for thread in threads])
        self.assertTrue(threads[0].pause() >= 1000.0)
        self.assertEqual(ALL, self.site.pooled())

    def test_at_once_when_a_claim_was_lost(self) -> None:
        site = self.site
        thread, other = (RepairThread(site.repair(), site.clock, 1000.0) for _ in range(2))
        thread.look()
        site.clock.advance(1)
        self.cloud.compute.remove_host(self.pool, 'compute-2')
        self.assertEqual(0, thread.look())
        thread.run_soon()
        under_way = site.repair().run()
        next(under_way)
        site.clock.advance(1)
        self.assertEqual(0, thread.look())
        # One that began before the claim was lost would not do; this one did not.
        under_way.close()
        self.assertEqual(ALL, site.pooled())
        self.assertTrue(thread.pause() >= 1000.0 - 1)
        self.cloud.compute.remove_host(self.pool, 'compute-2')
        other.run_soon()
        self.assertEqual([1, 0], [other.look(), other.look()])
        self.assertEqual(ALL, site.pooled())

    def test_a_worker_that_lost_its_claim_asks_for_one(self) -> None:
        asked: list[str] = []
        lease = self.site.create(start=100, until=0)
        claims = self.site.add_manager().claims
        hung = Once(self.cloud, 'compute.add_host', lambda: self.site.clock.advance(60))
        worker = Worker(
            self.site.store,
            self.site.plugins,
            hung,  # type: ignore[arg-type]  has every verb, under no name
            self.site.settings,
            claims,
            lambda: None,
            on_claim_lost=lambda: asked.append('repair'),
        )
        self.site.away_until(100)
        for lease_id in claims.take(1):
            worker.work(lease_id)
        self.assertTrue(hung.happened)
        self.assertEqual(['repair'], asked)
        self.assertEqual('STARTING', self.site.status(lease))

    def test_check_settles_as_those_of_managers_do(self) -> None:
        lease, _ = self.active()
        self.cloud.fail('compute.find_aggregate', times=None, error='permanent')
        self.repair()
        self.assertTrue(self.site.now(lease).degraded)
        self.cloud.heal()
        self.repair()
        self.assertFalse(self.site.now(lease).degraded)
        self.assertEqual('TERMINATED', self.site.status_at(3700, lease))
        self.assertEqual(datetime.timedelta(0), self.site.clock.now() - harness.at(3700))
