# SPDX-License-Identifier: Apache-2.0

"""Hundreds of leases, and managers that are killed all the time."""

from __future__ import annotations

import collections
import datetime
import os
import pathlib
import signal
import threading
import time
from concurrent import futures
from typing import Any

import fixtures
import sqlalchemy as sa

from climate.booking.leases import Leases
from climate.clock import SystemClock
from climate.db.migrations import migration
from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft
from climate.leases.settings import LeasingSettings
from climate.plugins.host.plugin import PhysicalHost
from climate.resources.registrar import Registrar
from climate.simulator import SimulatedCloud
from tests import base
from tests import drafts
from tests import services
from tests.functional import processes
from tests.functional import whole_leases
from tests.functional.db import cases

# Of one host each; every host has this many, one right after the other.
TURNS = 2
LEASES = int(os.environ.get('CLIMATE_TEST_CHAOS_LEASES', '500'))
FIRST_START = 7.0
KILL_EVERY = 4.0
# How long a manager takes to come up where nothing else is to be done.
USUAL_START = 2.0
# Nobody waits for hours where even more is to be done.
SLOWEST = 12.0
PATIENCE = 180.0
AT_WORK = 'is at work'
CALLER = Caller(user_id='alice', project_id='blue')

CONFIGURATION = """
[DEFAULT]
cloud = simulated
control_exchange = {exchange}
transport_url = {broker}
[simulator]
state_dir = {cloud}
[database]
connection = {database}
[oslo_messaging_notifications]
topics = {topic}
[manager]
rpc_topic = {rpc_topic}
claim_seconds = 2
max_sleep = 0.5
check_interval = 15
workers = 8
retry_longest_pause = 2
"""


class _Chaos:
    """Two real managers on a real database and a real broker."""

    kind = services.SQLITE
    leases = LEASES
    lease_seconds = 20.0
    pace = 1.0

    def setUp(self) -> None:
        super().setUp()
        broker = self.useFixture(services.Broker())
        url = self.useFixture(services.Database(self.kind)).url
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.topic = broker.topic('notifications')
        self.broker = broker
        (self.folder / 'climate.conf').write_text(
            CONFIGURATION.format(
                exchange=broker.exchange,
                broker=broker.url,
                database=url,
                cloud=self.folder / 'cloud',
                topic=self.topic,
                rpc_topic=broker.topic('managers'),
            )
        )
        self.prepare(url)

    def prepare(self, url: str) -> None:
        clock = SystemClock()
        self.store = self.closing(cases.connect(url, clock))
        migration.metadata().create_all(self.store.engine)
        self.cloud = self.closing(SimulatedCloud(self.folder / 'cloud', clock=clock))
        self.hosts = self.leases // TURNS
        self.cloud.seed(self.hosts)
        plugins = {'physical:host': PhysicalHost()}
        registrar = Registrar(self.store, plugins, self.cloud)
        for number in range(1, self.hosts + 1):
            registrar.register_resource(drafts.host(f'compute-{number}'))
        settings = LeasingSettings(
            notify_before_start=(2,), notify_before_end=datetime.timedelta(seconds=2)
        )
        self.core = Leases(self.store, plugins, clock, settings, lambda: None)
        self.cloud.keep_journal()

    # -- what is done

    def manager(self) -> processes.Command:
        return self.useFixture(
            processes.Command(
                'climate-manager',
                '--config-file',
                str(self.folder / 'climate.conf'),
                folder=self.folder,
            )
        )

    def pace_of(self, managers: list[processes.Command]) -> float:
        """Return how many times slower than usual the machine is just now.

        Managers are killed all the time: on a busy machine a short lease would
        be over before one of them has come up.
        """
        begun = time.monotonic()
        processes.until(
            'the managers work',
            lambda: all(AT_WORK in manager.said for manager in managers),
            PATIENCE,
        )
        return min(max(1.0, (time.monotonic() - begun) / USUAL_START), SLOWEST)

    def book(self) -> dict[str, str]:
        """Book all leases; return the reservation of each.

        In order of start: in any other, a lease may take the host that an earlier one needs.
        """
        begin = datetime.datetime.now(datetime.UTC) + datetime.timedelta(
            seconds=FIRST_START * self.pace
        )
        length = datetime.timedelta(seconds=round(self.lease_seconds * self.pace))

        def one(number: int) -> tuple[str, str]:
            turn, place = divmod(number, self.hosts)
            # Not all in the same instant, but one right after the other on each host.
            start = begin + length * place / self.hosts + length * turn
            draft = LeaseDraft(
                name=f'lease-{number}',
                start=start,
                end=start + length,
                reservations=({'resource_type': 'physical:host', 'min': 1, 'max': 1},),
                grain=datetime.timedelta(0),
                notify_before_start=(2,),
            )
            lease = self.core.create(CALLER, draft)
            return lease.id, lease.reservations[0].id

        return dict(map(one, range(self.leases)))

    def kill_and_start(self, managers: list[processes.Command], stop: threading.Event) -> int:
        """Kill one manager after the other until stopped; return how often.

        Each only when the one before works again: on a busy machine none of them would
        work for the whole of a lease.
        """
        kills = 0
        while not stop.wait(KILL_EVERY * self.pace):
            victim = managers[kills % len(managers)]
            before = victim.said.count(AT_WORK)
            victim.kill()
            victim.start()
            kills += 1
            processes.until(
                'it works again',
                lambda victim=victim, before=before: (
                    stop.is_set() or victim.said.count(AT_WORK) > before
                ),
                PATIENCE,
            )
        return kills

    def test_nothing_is_lost(self) -> None:
        managers = [self.manager() for _ in range(2)]
        self.pace = self.pace_of(managers)
        reservations = self.book()
        last = self.last_end()
        stop = threading.Event()
        with futures.ThreadPoolExecutor(1) as pool:
            killer = pool.submit(self.kill_and_start, managers, stop)
            while datetime.datetime.now(datetime.UTC) < last:
                self.assertEqual([], self.in_two_leases())
                time.sleep(1)
            stop.set()
            kills = killer.result()
        patience = PATIENCE * self.pace
        processes.until('every lease has ended', self.all_ended, patience)
        processes.until('every notification was sent', self.nothing_waits, patience)
        # Each of them at least once; on a quiet machine many times.
        self.assertGreaterEqual(kills, len(managers))
        self.check_leases()
        self.check_cloud(reservations)
        self.check_notifications(set(reservations))
        for manager in managers:
            # The last one started may not have come so far as to listen to signals.
            self.assertIn(manager.terminate(60), (0, -signal.SIGTERM))
            self.assertNotIn('Traceback', manager.said)

    # -- what there is

    def rows(self, query: str) -> list[Any]:
        with self.store.engine.connect() as connection:
            return list(connection.execute(sa.text(query)))

    def last_end(self) -> datetime.datetime:
        with self.store.reading() as tx:
            return max(lease.period.end for lease in whole_leases.every(tx))

    def all_ended(self) -> bool:
        found = self.rows("SELECT count(*) FROM leases WHERE status != 'TERMINATED'")
        return bool(found[0][0] == 0)

    def nothing_waits(self) -> bool:
        return bool(self.rows('SELECT count(*) FROM outbox')[0][0] == 0)

    def in_two_leases(self) -> list[str]:
        """Return the hosts that are in the aggregates of two reservations."""
        counted = collections.Counter(
            host
            for item in self.cloud.aggregates()
            if item.name != 'freepool'
            for host in item.hosts
        )
        return [host for host, times in counted.items() if times > 1]

    def check_leases(self) -> None:
        self.assertEqual(
            [('TERMINATED', self.leases)],
            [
                tuple(row)
                for row in self.rows('SELECT status, count(*) FROM leases GROUP BY status')
            ],
        )
        for query in (
            'SELECT id FROM leases WHERE next_due IS NOT NULL',
            "SELECT kind, state, attempts, begun_at, due, error FROM events WHERE state != 'DONE'",
            "SELECT id FROM allocations WHERE state != 'released'",
            "SELECT id FROM reservations WHERE status != 'deleted'",
        ):
            self.assertEqual([], self.rows(query), query)

    def check_cloud(self, reservations: dict[str, str]) -> None:
        (pool,) = self.cloud.aggregates()
        self.assertEqual(self.hosts, len(pool.hosts))
        made: set[Any] = set()
        filled: set[Any] = set()
        emptied: set[Any] = set()
        for call in self.cloud.journal():
            if call.verb == 'compute.create_aggregate':
                made.add(call.arguments[0])
            elif call.verb == 'compute.add_host' and call.arguments[0] != pool.id:
                filled.add(call.arguments[0])
            elif call.verb == 'compute.delete_aggregate':
                emptied.add(call.arguments[0])
        self.assertEqual(set(reservations.values()), made)
        self.assertEqual(self.leases, len(filled))
        self.assertEqual(filled, emptied)

    def check_notifications(self, leases: set[str]) -> None:
        first: dict[str, list[str]] = collections.defaultdict(list)
        seen: set[str] = set()
        twice = 0
        for message in services.notifications(self.topic):
            if message['message_id'] in seen:
                twice += 1
                continue
            seen.add(message['message_id'])
            first[message['payload']['lease_id']].append(message['event_type'])
        self.assertEqual(leases, set(first))
        wanted = [
            'lease.create',
            'lease.event.before_start_lease',
            'lease.event.start_lease',
            'lease.event.before_end_lease',
            'lease.event.end_lease',
        ]
        self.assertEqual(
            {}, {lease: notified for lease, notified in first.items() if notified != wanted}
        )
        self.assertLess(twice, self.leases)


class TestChaosOnMariadb(_Chaos, base.TestCase):
    """MariaDB, with as many leases as were promised to be survived."""

    kind = services.MARIADB


class TestChaosOnPostgresql(_Chaos, base.TestCase):
    """PostgreSQL, with fewer leases and in less time: the whole takes a minute already."""

    kind = services.POSTGRESQL
    leases = max(LEASES // 5, TURNS)
    lease_seconds = 6.0
