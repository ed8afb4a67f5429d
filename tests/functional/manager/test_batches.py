# SPDX-License-Identifier: Apache-2.0

"""Leases that are processed in batches fare as each does alone."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Iterator
from typing import Any

from climate.domain.leases import Lease
from climate.testing.deployment import Deployment
from climate.testing.walker import ACTIVE
from climate.testing.walker import END
from climate.testing.walker import LONG
from climate.testing.walker import START
from tests import base
from tests import services
from tests.databases import fetch
from tests.functional.manager import both_ways
from tests.functional.manager import harness
from tests.functional.manager.walk import kinds
from tests.functional.manager.walk.deployment import WalkDeployment
from tests.narrowing import present

HOSTS = 12
MANY = 50
SETTINGS = harness.changed(
    check_interval=datetime.timedelta(seconds=170), effect_deadline=datetime.timedelta(seconds=30)
)

# Which of several addresses a reservation gives up depends on their ids.
BY_CHANCE = ((kinds.KINDS['virtual:floatingip'], 'shrink'),)


class Stories:
    """What users, the cloud and time do to a dozen of leases."""

    def __init__(self, site: Deployment) -> None:
        self.site = site

    def book(self, name: str, start: float, end: float, hosts: int = 1, **facts: Any) -> Lease:
        return self.site.create(start, end, hosts, name=name, **facts)

    def undisturbed(self) -> Iterator[None]:
        """Starts, warnings, checks and ends, most of them at the same instants."""
        for number in range(4):
            self.book(f'same {number}', 100, 1000)
        self.book('two hosts', 100, 1000, 2)
        self.book('nothing', 100, 1000, 0)
        self.book('saved', 100, 700, 1, action='snapshot')
        self.book('short', 100, 130)
        for seconds in (50, 100, 131, 500, 720, 1100):
            self.site.until(seconds)
            yield

    def changed(self) -> Iterator[None]:
        """Leases are changed and deleted, before they start and while they are active."""
        leases = {
            name: self.book(name, 100, 1000)
            for name in ('grows', 'longer', 'deleted', 'early', 'renamed', 'larger', 'prepared')
        }
        self.site.until(20)
        self.site.delete(leases['early'])
        self.site.update(leases['larger'], hosts=2)
        self.site.until(70)
        self.site.delete(leases['prepared'])
        yield
        self.site.until(200)
        self.site.update(leases['grows'], hosts=3)
        self.site.update(leases['longer'], end=1200)
        self.site.update(leases['renamed'], name='other name')
        self.site.delete(leases['deleted'])
        yield
        for seconds in (201, 900, 1300):
            self.site.until(seconds)
            yield

    def handed_over(self) -> Iterator[None]:
        """Leases wait for what others release slowly, or only after their end."""
        first = [self.book(f'first {number}', 0, 200, 3) for number in range(4)]
        for number in range(4):
            self.book(f'second {number}', 230, 400, 3)
        self.site.until(100)
        # On each host: which lease ends first would otherwise depend on the order.
        for lease in first:
            for host in self.site.hosts(lease):
                self.site.cloud.boot_server(host, harness.PROJECT, 'server')
        self.site.cloud.set_server_deletion_seconds(40)
        yield
        for seconds in (200, 229, 231, 260, 500):
            self.site.until(seconds)
            yield

    def failing(self) -> Iterator[None]:
        """The cloud fails for a while, or for good."""
        cloud = self.site.cloud
        leases = [self.book(f'one {number}', 100, 800) for number in range(5)]
        self.site.until(99)
        cloud.fail('compute.add_host', times=3)
        self.site.until(120)
        yield
        self.site.update(leases[0], hosts=2)
        self.site.update(leases[1], hosts=2)
        cloud.fail('compute.add_host', times=1, error='permanent')
        self.site.until(200)
        yield
        for number in range(3):
            self.book(f'lost {number}', 300, 800)
        self.site.until(299)
        cloud.reachable = False
        self.site.until(420)
        yield
        cloud.heal()
        self.site.until(600)
        yield
        self.site.delete(leases[3])
        cloud.fail('compute.remove_host', times=4)
        self.site.until(1000)
        yield

    def drifting(self) -> Iterator[None]:
        """Checks find changes that were made in the cloud."""
        leases = [self.book(f'drifts {number}', 0, 1000) for number in range(4)]
        self.site.until(100)
        for lease in leases[:2]:
            aggregate = present(self.site.cloud.compute.find_aggregate(lease.reservations[0].id))
            for host in aggregate.hosts:
                self.site.cloud.compute.remove_host(aggregate.id, host)
        self.site.until(300)
        yield
        self.site.until(1100)
        yield


def _take_by_name(site: harness.Site) -> None:
    """Have the manager take leases that are due at the same instant in the order of names.

    Otherwise it depends on their ids which of them meets a failure of the cloud.
    """
    take = site.manager.claims.take

    def name(lease_id: str) -> str:
        found = fetch(site.store, lambda tx: tx.leases.find(lease_id))
        return '' if found is None else found.name

    site.manager.claims.take = lambda _limit: sorted(take(MANY), key=name)


class BothWays:
    """Tells each story to two deployments, and compares all rows.

    :cvar database: that of the leases that are processed in batches; the others, whose
        processing does not depend on it, are on SQLite
    """

    kind = services.SQLITE

    def check(self: Any, name: str, settings: Any = SETTINGS) -> None:
        pictures = []
        for alone, database in ((True, services.SQLITE), (False, self.kind)):
            site = harness.Site(settings, database, hosts=HOSTS, alone=alone)
            self.useFixture(site)
            _take_by_name(site)
            story = getattr(Stories(site), name)
            pictures.append(both_ways.pictures(site, lambda _site, story=story: story()))
        for part, (single, batch) in enumerate(itertools.zip_longest(*pictures)):
            for table in single:
                self.assertEqual(single[table], batch[table], f'{table} after part {part}')


@services.on_each_engine(base.TestCase, 'TestBothWaysOn', engines=services.DATABASE_SERVERS)
@base.test_each(('changed', 'failing'))
class MainStories(BothWays):
    """Those that write all tables in all ways."""

    def test_handed_over_with_cleaning(self) -> None:
        self.check('handed_over', harness.changed(cleaning_time=datetime.timedelta(seconds=30)))


@base.test_each(('undisturbed', 'handed_over', 'drifting'))
class OtherStories(BothWays):
    """Other combinations of the same; ``tests/exhaustive`` has them for the other engines."""


class TestBothWaysOnSqlite(MainStories, OtherStories, base.TestCase):
    """SQLite."""


@base.test_each(kinds.KINDS)
class TestTypes(base.TestCase):
    """A lease of each type, in batches with leases of nothing; the loop below adds the tests."""

    def check(self, name: str) -> None:
        kind = kinds.KINDS[name]
        pictures = []
        for alone in (True, False):
            site = self.useFixture(WalkDeployment(alone=alone))
            pictures.append(both_ways.pictures(site, lambda site: self.life(site, kind)))
        for part, (single, batch) in enumerate(itertools.zip_longest(*pictures)):
            for table in single:
                self.assertEqual(single[table], batch[table], f'{table} after part {part}')

    def life(self, site: Any, kind: kinds.Kind) -> Iterator[None]:
        requests = kind.furnish(kinds.TypeRegistrar(site.store, site.plugins, site.cloud))
        site.rng.seed(7)
        lease = site.book(requests, START, END)
        for number in range(2):
            site.create(START, END, hosts=0, name=f'nothing {number}')
        site.until(START - 1)
        site.cloud.fail('*', times=1)
        site.until(ACTIVE)
        yield
        kind.use(site, lease)
        for name, bodies in kind.changes.items():
            if (kind, name) in BY_CHANCE:
                continue
            site.change(site.now(lease), bodies)
            site.until(site.seconds() + LONG)
        yield
        site.until(END + LONG)
        yield
