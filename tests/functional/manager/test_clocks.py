# SPDX-License-Identifier: Apache-2.0

"""Machines whose clocks differ from that of the database."""

from __future__ import annotations

import datetime
import logging

import fixtures

from climate import exceptions
from climate.clock import Clock
from climate.clock import SteadyClock
from climate.clock import SystemClock
from climate.db.engine.clock_difference import Difference
from climate.db.transactions.store import Store
from climate.manager.claims.claims import ClaimKeeper
from climate.manager.claims.clocks import Clocks
from climate.manager.periodic.repair import Repair
from tests import base
from tests import services
from tests.functional.manager import harness
from tests.functional.manager.harness import Site
from tests.narrowing import present

# Long, so that a busy machine makes no difference of its own.
SECONDS = 100.0


class Shifted:
    """The clock of a machine that is wrong.

    :ivar seconds: how far it is ahead
    :ivar later: ticks that have passed besides
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.later = 0.0
        self._system = SystemClock()

    def now(self) -> datetime.datetime:
        return self._system.now() + datetime.timedelta(seconds=self.seconds)

    def ticks(self) -> float:
        return self._system.ticks() + self.later

    def processor(self) -> float:
        return self._system.processor()


@services.on_each_engine(base.TestCase, 'TestClocksOn', engines=services.DATABASE_SERVERS)
class _Clocks:
    """One database, and managers on machines with clocks of their own."""

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(Site(database=self.kind, hosts=0, clock=SystemClock()))
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))

    def store(self, clock: Clock) -> Store:
        return self.closing(Store(self.site.conf, clock))

    def clocks(self, clock: Clock) -> Clocks:
        return Clocks(self.store(clock), clock, SECONDS)

    def claims(self, seconds: float) -> ClaimKeeper:
        """Return the claims of a manager whose clock is so far ahead."""
        clock = Shifted(seconds)
        store = self.store(clock)
        clocks = Clocks(store, clock, SECONDS)
        return ClaimKeeper(store, clock, f'manager {seconds}', SECONDS, clocks)

    def assert_offset(self, seconds: float, clocks: Clocks) -> None:
        """Compare roughly, for a busy machine."""
        self.assertAlmostEqual(seconds, clocks.offset().total_seconds(), delta=5)

    def create(self, start: float = -3600) -> str:
        now = self.site.clock.now() - harness.NOW
        return self.site.create(now.total_seconds() + start, 10**9, hosts=0).id

    def test_a_small_difference_is_taken_into_account(self) -> None:
        clocks = self.clocks(Shifted(10))
        self.assertIsNone(clocks.trouble())
        self.assert_offset(-10, clocks)
        self.assertNotIn('The clock of this machine', self.log.output)

    def test_a_fifth_is_warned_of_once(self) -> None:
        clocks = self.clocks(Shifted(-30))
        self.assertEqual([None, None], [clocks.trouble(), clocks.trouble()])
        self.assertEqual(1, self.log.output.count('more than a fifth of [manager] claim_seconds'))
        self.assertIn('behind that of the database', self.log.output)

    def test_with_half_nothing_is_claimed_until_it_is_set_right(self) -> None:
        lease_id = self.create()
        clock = Shifted(60)
        store = self.store(clock)
        clocks = Clocks(store, clock, SECONDS)
        claims = ClaimKeeper(store, clock, 'me', SECONDS, clocks)
        self.assertEqual(([], None), claims.take_and_look(8))
        self.assertFalse(claims.take_one(lease_id))
        error = self.assertRaises(exceptions.ServiceUnavailable, clocks.check)
        self.assert_contains(error.message, 'ahead of that of the database', 'claims nothing')
        self.assertEqual(1, self.log.output.count('claims nothing'))
        repair = Repair(store, {}, self.site.cloud, clock, self.site.settings, claims)
        self.assertRaises(exceptions.Conflict, list, repair.run())
        clock.seconds = 0
        self.assertEqual([lease_id], claims.take(8))
        self.assertIn('agree again', self.log.output)

    def test_it_is_measured_every_minute(self) -> None:
        clock = Shifted(0)
        store = self.store(clock)
        # So that none of the differences is too much.
        clocks = Clocks(store, clock, 10 * SECONDS)
        measured: list[float] = []
        measure = store.difference

        def counted() -> Difference:
            measured.append(clock.later)
            return measure()

        store.difference = counted  # type: ignore[method-assign]  # counts the measurements
        self.assert_offset(0, clocks)
        self.assert_offset(0, clocks)
        clock.later, clock.seconds = 61.0, 61.0
        self.assert_offset(-61, clocks)
        self.assert_offset(-61, clocks)
        self.assertEqual([0.0, 61.0], measured)

    def test_a_step_is_seen_at_the_next_claim(self) -> None:
        lease_id = self.create()
        living = self.claims(0)
        for seconds in (3 * SECONDS, -3 * SECONDS):
            clock = Shifted(0)
            for own in (clock, SteadyClock(clock)):
                store = self.store(own)
                claims = ClaimKeeper(store, own, 'steps', SECONDS, Clocks(store, own, SECONDS))
                self.assertIsNone(claims.trouble())
                if not living.claimed():
                    self.assertEqual([lease_id], living.take(8))
                clock.seconds = seconds
                # By its new time, that claim may have expired.
                self.assertEqual([], claims.take(8))
                self.assertFalse(claims.take_one(lease_id))
                self.assertIn('claims nothing', claims.trouble() or '')
                clock.seconds = 0
                self.assertIsNone(claims.trouble())

    def test_leases_are_due_by_the_clock_of_the_database(self) -> None:
        self.create(3600)
        for seconds in (-SECONDS / 3, 0, SECONDS / 3):
            machine = Shifted(0)
            clock = SteadyClock(machine)
            store = self.store(clock)
            claims = ClaimKeeper(store, clock, 'mine', SECONDS, Clocks(store, clock, SECONDS))
            self.assertEqual([], claims.take(8))
            machine.seconds = seconds
            # A step that is small enough for claims.
            self.assertEqual([], claims.take(8))
            self.assertIsNone(claims.trouble())
            self.assertAlmostEqual(0, (clock.now() - SystemClock().now()).total_seconds(), delta=5)
            self.assertAlmostEqual(0, store.difference().offset.total_seconds(), delta=5)

    def test_claims_run_out_by_one_clock(self) -> None:
        """Two managers, each of which is off by less than half, in turn."""
        lease_id = self.create()
        slow, quick = self.claims(-45), self.claims(45)
        self.assertEqual([lease_id], slow.take(8))
        # By the clock of the other one it ran out before it was taken.
        self.assertEqual([], quick.take(8))
        present(slow.guard(lease_id)).check()


class TestClocksOnSqlite(base.TestCase):
    """SQLite, whose clock is that of the machine."""

    def test_there_is_no_difference(self) -> None:
        site = self.useFixture(Site(hosts=0))
        clock = Shifted(3600)
        clocks = Clocks(self.closing(Store(site.conf, clock)), clock, 1.0)
        self.assertIsNone(clocks.trouble())
        self.assertEqual(datetime.timedelta(0), clocks.offset())
