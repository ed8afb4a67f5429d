# SPDX-License-Identifier: Apache-2.0

"""Managers that are held up for longer than their claim, and then go on."""

from __future__ import annotations

import datetime
import io
import logging
from collections.abc import Callable
from typing import Any
from typing import cast

import fixtures
import sqlalchemy as sa
from oslo_log import formatters

from climate.cloud import read_only
from climate.cloud.base import Cloud
from climate.cloud.base import Server
from climate.cloud.fence import ClaimLost
from climate.cloud.fence import Fenced
from climate.cmd import config
from climate.domain.events import EventKind
from climate.manager.claims import worker
from climate.manager.claims.worker import Worker
from climate.manager.default_leases.server_leases import ServerLeases
from climate.plugins.contract import Done
from climate.plugins.contract import Outcome
from climate.plugins.contract import Work
from tests import base
from tests import services
from tests.functional.manager import harness
from tests.functional.manager.booted import BootedCase
from tests.functional.manager.harness import Site
from tests.functional.manager.harness import SiteCase
from tests.narrowing import present

_LONGER = harness.CLAIM_SECONDS + 1


class HeldUp:
    """A cloud in which something happens once, right before Nova is looked at.

    :param nth: at which look, from 1
    :ivar looks: how many there were
    """

    def __init__(self, cloud: Any, nth: int, happens: Callable[[], None]) -> None:
        self._cloud = cloud
        self._nth = nth
        self._happens = happens
        self.looks = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._cloud, name)
        return _Nova(self, found) if name == 'compute' else found

    def passes(self) -> None:
        """Let it happen, if it is time."""
        self.looks += 1
        if self.looks == self._nth:
            self._happens()


class _Nova:
    def __init__(self, cloud: HeldUp, real: Any) -> None:
        self._cloud = cloud
        self._real = real

    def __getattr__(self, verb: str) -> Any:
        found = getattr(self._real, verb)

        def look(*arguments: Any, **named: Any) -> Any:
            self._cloud.passes()
            return found(*arguments, **named)

        return look if read_only.is_read_only(f'compute.{verb}') else found


class TestHeldUp(base.TestCase):
    """Two leases of one host, one after the other; the manager of the first is held up."""

    def setUp(self) -> None:
        super().setUp()
        self.begin()

    def begin(self) -> None:
        self.site = self.useFixture(Site(hosts=1))
        self.first = self.site.create(0, 1000)
        self.second = self.site.create(1000, 3000, until=999)
        self.servers: set[str] = set()

    def held_up(self, nth: int, happens: Callable[[], None]) -> bool:
        """Let a manager end the first lease; say whether it looked so often."""
        manager = self.site.add_manager()
        cloud = HeldUp(self.site.cloud, nth, happens)
        site, seen = self.site, cast('Cloud', cloud)
        parts = (site.store, site.plugins, seen, site.settings)
        manager.worker = Worker(*parts, manager.claims, lambda: None)
        self.site.away_until(1000)
        manager.look(1)
        return cloud.looks >= nth

    def goes_on(self) -> None:
        """Let time pass, and another manager do it all."""
        self.site.until(1100)
        self.servers = {self.site.boot(self.second)}

    def there(self) -> set[str]:
        return {server.id for server in self.site.cloud.servers()}

    def statuses(self) -> tuple[str, str]:
        return self.site.status(self.first), self.site.status(self.second)

    def test_the_next_tenants_servers_are_left_alone(self) -> None:
        held_up = 0
        self.site.boot(self.first)
        while self.held_up(held_up + 1, self.goes_on):
            held_up += 1
            self.assertEqual(('TERMINATED', 'ACTIVE'), self.statuses(), held_up)
            self.assertEqual(self.servers, self.there(), held_up)
            self.assertEqual({'compute-1'}, self.site.hosts(self.second), held_up)
            self.site.manager.send()
            self.assertEqual(1, self.site.bus.received(self.first).count('end_lease'))
            self.begin()
            self.site.boot(self.first)
        self.assertGreaterEqual(held_up, 2)

    def test_nothing_is_settled_reported_or_counted(self) -> None:
        site = self.site
        site.boot(self.first)
        before = site.bus.received()
        self.held_up(1, lambda: site.clock.advance(_LONGER))
        event = site.event(self.first, EventKind.END)
        self.assertEqual(('IN_PROGRESS', 0, None), (event.state, event.attempts, event.error))
        self.assertEqual(('TERMINATING', before), (site.status(self.first), site.bus.received()))
        self.assertEqual(1, len(self.there()))
        site.until(1100)
        self.assertEqual(('TERMINATED', 'ACTIVE'), self.statuses())

    def test_a_plugin_that_swallows_it_settles_nothing(self) -> None:

        def end(_work: Work, cloud: Cloud) -> Outcome:
            self.site.clock.advance(_LONGER)
            try:
                cloud.compute.delete_server('x')
            except ClaimLost:
                self.site.clock.advance(-_LONGER)
            return Done()

        self.patch(self.site.plugins['physical:host'], 'end', end)
        self.held_up(0, lambda: None)
        self.assertEqual('TERMINATING', self.site.status(self.first))

    def test_the_log_says_once_that_the_claim_is_lost(self) -> None:
        """Formatted as by default: oslo.log adds the exception that is being handled."""
        text = io.StringIO()
        handler = logging.StreamHandler(text)
        conf = config.new_conf()
        conf([])
        handler.setFormatter(formatters.ContextFormatter(config=conf))
        self.useFixture(fixtures.LogHandler(handler, name=worker.__name__))
        self.held_up(1, lambda: self.site.clock.advance(_LONGER))
        line = text.getvalue()
        self.assertEqual((1, 1), (line.count('\n'), line.count('not renewed in time')), line)
        self.assertIn(f'Lease {self.first.id}: another manager continues with it', line)

    def test_one_that_only_looked_settles_nothing(self) -> None:

        def end(_work: Work, _cloud: Cloud) -> Outcome:
            self.site.clock.advance(harness.CLAIM_SECONDS - 1)
            return Done()

        self.patch(self.site.plugins['physical:host'], 'end', end)
        self.held_up(0, lambda: None)
        self.assertEqual('TERMINATING', self.site.status(self.first))


class TestRepair(base.TestCase):
    """A repair that is held up."""

    def test_a_check_ends_when_its_claim_is_lost(self) -> None:
        site = self.useFixture(Site(hosts=1))
        lease = site.create(0, 5000, until=10)
        pool = present(site.cloud.compute.find_aggregate('freepool'))
        aggregate = next(item for item in site.cloud.aggregates() if item.name != pool.name)
        site.cloud.compute.remove_host(aggregate.id, 'compute-1')
        claims = site.add_manager().claims

        def happens() -> None:
            site.clock.advance(_LONGER)
            self.assertTrue(claims.take_one(lease.id))

        repair = site.repair()
        self.patch(repair, '_cloud', HeldUp(site.cloud, 1, happens))
        self.assertEqual([], [item for item in repair.run() if lease.id in item.what])
        self.assertEqual(set(), site.hosts(lease))
        site.until(40)
        self.assertTrue([item for item in site.repair().run() if lease.id in item.what])
        self.assertEqual({'compute-1'}, site.hosts(lease))

    def test_a_delayed_sweep_removes_nothing(self) -> None:
        site = self.useFixture(Site(hosts=1))
        lease = site.create(0, 1000, until=10)
        full = site.cloud.state()
        site.delete(lease)
        site.until(20)
        site.cloud.restore(full)
        repair = site.repair()

        def happens() -> None:
            site.clock.advance(3600)
            list(site.repair().run())

        cloud = cast('Cloud', HeldUp(site.cloud, 2, happens))
        self.patch(repair, '_fenced', Fenced(cloud, repair._guard, repair._record))
        self.assertEqual([], [item for item in repair.run() if item.done])
        self.assertEqual({'compute-1'}, site.pooled())
        self.assertEqual([], list(site.repair().rehearse()))


class TestBooted(BootedCase):
    """A manager that is held up while it gives a booted server its lease."""

    def held_up(self, *, erased: bool) -> tuple[Server, ServerLeases]:
        """Return a server, and a manager that hangs right before it writes metadata.

        :param erased: whether the owner removes what the next manager writes
        """
        server = self.boot(lease_duration='2h')

        def happens() -> None:
            self.site.clock.advance(61)
            self.assertFalse(self.add_manager().look(self.cloud))
            if erased:
                self.cloud.compute.set_server_metadata(server.id, {'climate:lease_id': ''})

        return server, self.add_manager(cloud=HeldUp(self.cloud, 3, happens))

    def test_it_books_no_second_lease(self) -> None:
        server, slow = self.held_up(erased=False)
        self.assertFalse(slow.look(self.cloud))
        (lease,) = self.leases()
        self.assertEqual({'climate:lease_id': lease.id}, self.metadata(server))

    def test_it_writes_nothing_when_the_server_is_not_its_own_any_more(self) -> None:
        server, slow = self.held_up(erased=True)
        self.assertRaises(ClaimLost, slow.look, self.cloud)
        self.assertEqual(1, len(self.leases()))
        self.assertEqual({}, self.metadata(server))


@services.on_each_engine(base.TestCase, 'TestRowsOn', engines=services.DATABASE_SERVERS)
class _Rows:
    """Claims in SQL."""

    def test_a_row_that_is_locked_keeps_no_other_from_being_renewed(self) -> None:
        site = self.useFixture(Site(database=self.kind))
        locked, free = site.create(0, 2000), site.create(0, 2000)
        claims = site.manager.claims
        self.assertEqual({locked.id, free.id}, set(claims.take(8)))
        guards = [claims.guard(lease.id) for lease in (locked, free)]
        site.clock.advance(5)
        with site.store.engine.connect() as connection:
            connection.execute(
                sa.text('SELECT id FROM leases WHERE id = :id FOR UPDATE'), {'id': locked.id}
            )
            claims.renew()
            self.assertEqual([5.0, 0.0], [guard.age() for guard in guards if guard is not None])
            connection.rollback()
        claims.renew()
        self.assertEqual([0.0, 0.0], [guard.age() for guard in guards if guard is not None])


class TestClaims(SiteCase):
    """Claims that are renewed, lost and had again."""

    def setUp(self) -> None:
        super().setUp()
        self.lease = self.site.create(0, 2000)
        self.claims = self.site.manager.claims
        self.assertEqual([self.lease.id], self.claims.take(1))

    def until(self) -> datetime.datetime | None:
        with self.site.store.engine.connect() as connection:
            return connection.scalar(sa.text('SELECT claim_until FROM leases'))

    def test_what_is_renewed_in_time_stays(self) -> None:
        guard = present(self.claims.guard(self.lease.id))
        for _ in range(5):
            self.site.clock.advance(harness.CLAIM_SECONDS * 0.6)
            self.claims.renew()
            guard.check()
        self.assertEqual([], self.site.add_manager().claims.take(1))

    def test_what_ran_out_is_not_renewed(self) -> None:
        """So that it is free for whoever takes it: nothing works under it any more."""
        was = self.until()
        self.site.clock.advance(harness.CLAIM_SECONDS * 0.7)
        self.claims.renew()
        self.assertEqual(was, self.until())

    def test_another_managers_claim_is_left_alone(self) -> None:
        guard = present(self.claims.guard(self.lease.id))
        self.site.clock.advance(_LONGER)
        self.assertEqual([self.lease.id], self.site.add_manager().claims.take(1))
        was = self.until()
        self.claims.renew()
        self.assertEqual((was, False), (self.until(), guard.is_valid()))

    def test_due_again_before_it_was_forgotten(self) -> None:
        """It is worked on at once, and not when the claim runs out."""
        manager = self.site.manager
        manager.worker.work(self.lease.id)
        self.assertEqual('ACTIVE', self.site.status(self.lease))
        self.site.delete(self.lease)
        self.assertEqual([], self.claims.take(8))
        self.assertFalse(self.claims.forget(self.lease.id))
        manager.worker.work(self.lease.id)
        self.assertTrue(self.claims.forget(self.lease.id))
        self.assertEqual('gone', self.site.status(self.lease))
