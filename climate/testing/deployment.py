# SPDX-License-Identifier: Apache-2.0

"""A complete deployment in one process, which tests drive by moving its clock."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import pathlib
import random
import tempfile
from collections.abc import Callable
from collections.abc import Sequence
from typing import Any

import fixtures
from oslo_config import cfg

from climate.booking.leases import Leases
from climate.clock import Clock
from climate.clock import ManualClock
from climate.cloud.base import Cloud
from climate.db.engine import addresses
from climate.db.migrations import migration
from climate.db.transactions.store import register_opts
from climate.db.transactions.store import Store
from climate.domain import requests
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.resources import ResourceDraft
from climate.enforcement.filters import Filters
from climate.leases.settings import LeasingSettings
from climate.manager.claims.claims import ClaimKeeper
from climate.manager.periodic.repair import Repair
from climate.messaging.publisher import BrokerUnavailable
from climate.messaging.publisher import OutboxMessage
from climate.plugins.contract import Plugin
from climate.plugins.host.isolation import Isolation
from climate.plugins.host.plugin import PhysicalHost
from climate.plugins.host.pools import HostSettings
from climate.resources.registrar import Registrar
from climate.simulator import SimulatedCloud
from climate.testing import connection
from climate.testing.managers import CLAIM_SECONDS
from climate.testing.managers import SteppedManager

NOW = datetime.datetime(2030, 1, 1, 12, tzinfo=datetime.UTC)
PROJECT = 'blue'
CALLER = requests.Caller(user_id='alice', project_id=PROJECT)
SETTINGS = LeasingSettings(
    notify_before_start=(300, 60),
    notify_before_end=datetime.timedelta(seconds=600),
    prepare_lead_time=datetime.timedelta(seconds=60),
    yield_notice=datetime.timedelta(seconds=60),
    check_interval=datetime.timedelta(seconds=900),
    effect_deadline=datetime.timedelta(seconds=120),
    retry_first_pause=1.0,
    retry_longest_pause=30.0,
    handover_pause=datetime.timedelta(seconds=1),
)


class SqliteDatabase(fixtures.Fixture):
    """An empty SQLite database, in its own directory.

    :ivar url: its URL for SQLAlchemy
    """

    def _setUp(self) -> None:
        # Not in the directory of a NestedTempfile, which is deleted earlier.
        folder = tempfile.TemporaryDirectory(prefix='climate-', ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.url = addresses.of_file(pathlib.Path(folder.name, 'climate.sqlite'))


class Bus:
    """A message bus that accepts notifications, except those that a test refuses.

    :ivar taken: the accepted messages, in order
    :ivar refuses: returns whether to refuse a message
    """

    def __init__(self) -> None:
        self.taken: list[OutboxMessage] = []
        self.refuses: Callable[[OutboxMessage], bool] = lambda _: False

    def publish(self, messages: Sequence[OutboxMessage]) -> None:
        """Accept *messages* up to the first that is refused."""
        for number, message in enumerate(messages):
            if self.refuses(message):
                raise BrokerUnavailable(published=number)
            self.taken.append(message)

    def received(self, lease: Lease | None = None) -> list[str]:
        """Return the types of the accepted messages, without their common prefix.

        Deletions of objects are left out, see :meth:`deleted`.
        """
        return [
            message.event_type.removeprefix('lease.').removeprefix('event.')
            for message in self.taken
            if (lease is None or message.payload.get('lease_id') == lease.id)
            and 'object_id' not in message.payload
        ]

    def deleted(self) -> list[dict[str, Any]]:
        """Return the payloads of the messages about deleted objects."""
        return [dict(item.payload) for item in self.taken if 'deleted_at' in item.payload]

    def last(self, event_type: str) -> dict[str, Any]:
        """Return the payload of the last message of a type."""
        return dict([item.payload for item in self.taken if item.event_type == event_type][-1])


class Deployment(fixtures.Fixture):
    """A database, a simulated cloud of some hosts, and any number of managers.

    :param database: fixture whose ``url`` is that of an empty database, or of one with empty
        tables if it has a true ``has_tables``; :class:`SqliteDatabase` by default
    :param hosts: the number of hosts in the cloud, all of them registered
    :param cloud_dir: the directory of the state of the simulated cloud
    :param alone: whether managers process each lease alone instead of in batches
    """

    def __init__(
        self,
        settings: LeasingSettings = SETTINGS,
        database: Any = None,
        hosts: int = 4,
        clock: Clock | None = None,
        isolation: Isolation = Isolation.FILTER,
        filters: Filters | None = None,
        cloud_dir: str = ':memory:',
        *,
        alone: bool = False,
    ) -> None:
        super().__init__()
        self._alone = alone
        self._cloud_dir = cloud_dir
        self.filters = filters or Filters()
        self.isolation = isolation
        self.clock: Any = clock or ManualClock(NOW)
        self.settings = settings
        self._database = database or SqliteDatabase()
        self._hosts = hosts

    def _setUp(self) -> None:
        database = self.useFixture(self._database)
        self.conf = cfg.ConfigOpts()
        register_opts(self.conf)
        self.conf([])
        connection.use(self.conf, database.url)
        pause = int(self.settings.cleaning_time.total_seconds())
        self.conf.set_override('cleaning_time', pause, group='allocation')
        self.store = Store(self.conf, self.clock)
        self.addCleanup(self.store.close)
        if not getattr(database, 'has_tables', False):
            migration.metadata().create_all(self.store.engine)
        self.cloud = SimulatedCloud(self._cloud_dir, clock=self.clock)
        self.addCleanup(self.cloud.close)
        self.cloud.seed(self._hosts)
        self.plugins: dict[str, Plugin[Any]] = {'physical:host': self._plugin()}
        registrar = Registrar(self.store, self.plugins, self.cloud)
        for number in range(1, self._hosts + 1):
            registrar.register_resource(_host(f'compute-{number}'))
        self.leases = Leases(
            self.store,
            self.plugins,
            self.clock,
            self.settings,
            lambda: None,
            random.Random(7),
            filters=self.filters,
        )
        self.bus = Bus()
        self._managers = 0
        self.manager = self.add_manager()

    def _plugin(self) -> PhysicalHost:
        return PhysicalHost(HostSettings(isolation=self.isolation))

    # -- managers

    def configure(self, isolation: Isolation) -> None:
        """Restart every manager with another isolation."""
        self.isolation = isolation
        self.plugins['physical:host'] = self._plugin()

    @property
    def managed(self) -> Cloud:
        """The cloud that new managers use."""
        return self.cloud

    def add_manager(self, batch: int = 100) -> SteppedManager:
        """Return a new manager.

        :param batch: the maximum number of notifications that it sends per batch
        """
        self._managers += 1
        return SteppedManager(self, f'manager-{self._managers}', batch, alone=self._alone)

    def work(self) -> None:
        """Process everything that is due now, and send the notifications."""
        while self.manager.look():
            continue
        self.manager.send()

    def until(self, seconds: float) -> None:
        """Advance the clock to *seconds* after noon, and process what becomes due.

        The clock jumps from one due instant to the next, so that no event is late.
        """
        end = at(seconds)
        self.work()
        while True:
            with self.store.reading() as tx:
                due = tx.claims.next_due()
            if due is None or due > end:
                break
            # Another manager can take over a claim only after the instant it expires.
            self.clock.move_to(max(due, self.clock.now() + datetime.timedelta(milliseconds=1)))
            self.work()
        self.clock.move_to(end)

    def away_until(self, seconds: float) -> None:
        """Advance the clock to *seconds* after noon, without a manager."""
        self.clock.move_to(at(seconds))

    def seconds(self) -> float:
        """Return the present time, in seconds after noon."""
        return float((self.clock.now() - NOW).total_seconds())

    def repair(self) -> Repair:
        """Return a new repair."""
        self._managers += 1
        owner = f'repair-{self._managers}'
        claims = ClaimKeeper(self.store, self.clock, owner, CLAIM_SECONDS)
        return Repair(self.store, self.plugins, self.managed, self.clock, self.settings, claims)

    # -- users

    def create(self, start: float = 0, end: float = 3600, hosts: int = 1, **facts: Any) -> Lease:
        """Book whole hosts; *start* and *end* are in seconds after noon.

        :param facts: attributes of the lease, and ``until``: let time pass until then
        """
        later = facts.pop('until', None)
        reservation = {
            'resource_type': 'physical:host',
            'min': hosts,
            'max': hosts,
            'before_end': facts.pop('action', ''),
        }
        draft = requests.LeaseDraft(
            name=facts.pop('name', 'l'),
            start=at(start),
            end=at(end),
            reservations=(reservation,) if hosts else (),
            grain=datetime.timedelta(0),
            asked_at=min(at(start), self.clock.now()),
            **facts,
        )
        lease = self.leases.create(CALLER, draft)
        if later is not None:
            self.until(later)
        return lease

    def update(self, lease: Lease, **facts: Any) -> Lease:
        """Change a lease: ``start`` and ``end`` in seconds after noon, or ``hosts``."""
        for key in ('start', 'end'):
            if key in facts:
                facts[key] = at(facts[key])
        hosts = facts.pop('hosts', None)
        if hosts is not None:
            change = requests.ReservationChange(
                id=lease.reservations[0].id, body={'min': hosts, 'max': hosts}
            )
            facts['reservations'] = (change,)
        change_all = requests.LeaseChange(grain=datetime.timedelta(0), **facts)
        return self.leases.update(CALLER, lease.id, PROJECT, change_all)

    def delete(self, lease: Lease) -> None:
        """Delete a lease."""
        self.leases.delete(CALLER, lease.id, PROJECT)

    # -- queries

    def now(self, lease: Lease) -> Lease:
        """Return a lease as it is now, deleted or not."""
        with self.store.reading() as tx:
            stored = tx.leases.find(lease.id)
        if stored is None:
            raise LookupError(lease.id)
        return stored

    def status(self, lease: Lease) -> str:
        """Return the status of a lease; 'gone' if it was deleted."""
        try:
            return self.now(lease).status.value
        except LookupError:
            return 'gone'

    def status_at(self, seconds: float, lease: Lease) -> str:
        """Let time pass until *seconds* after the start, and return the status of a lease."""
        self.until(seconds)
        return self.status(lease)

    def settled(self, lease: Lease) -> str:
        """Process everything that is due now, and return the status of a lease."""
        self.work()
        return self.status(lease)

    def reservation(self, lease: Lease) -> str:
        """Return the status of the first reservation of a lease."""
        return self.now(lease).reservations[0].status.value

    def event(self, lease: Lease, kind: EventKind) -> Event:
        """Return the only event of a kind."""
        (match,) = (item for item in self.now(lease).events if item.kind is kind)
        return match

    def allocations(self, lease: Lease) -> list[Allocation]:
        """Return the allocations of a lease, booked or held."""
        with self.store.reading() as tx:
            return tx.allocations.live_of([item.id for item in lease.reservations])

    def hosts(self, lease: Lease) -> set[str]:
        """Return the hosts in the aggregate of a lease."""
        names = {item.id for item in lease.reservations}
        return {
            host for item in self.cloud.aggregates() if item.name in names for host in item.hosts
        }

    def places(self) -> dict[str, list[str]]:
        """Return the aggregates that each host is in."""
        return {
            host.service_host: [
                item.name for item in self.cloud.aggregates() if host.service_host in item.hosts
            ]
            for host in self.cloud.hypervisors()
        }

    def pooled(self) -> set[str]:
        """Return the hosts whose only aggregate is the pool."""
        return {host for host, names in self.places().items() if names == ['freepool']}

    def boot(self, lease: Lease) -> str:
        """Start a server on a host of a lease; return its id."""
        host = sorted(self.hosts(lease))[0]
        return self.cloud.boot_server(host, PROJECT, 'server').id

    def waiting(self) -> int:
        """Return the number of notifications that were not sent yet."""
        with self.store.reading() as tx:
            return tx.outbox.waiting()


def _host(name: str) -> ResourceDraft:
    return ResourceDraft(resource_type='physical:host', name=name, capabilities={})


def at(seconds: float) -> datetime.datetime:
    """Return the instant *seconds* after noon."""
    return NOW + datetime.timedelta(seconds=seconds)


def changed(**facts: Any) -> LeasingSettings:
    """Return the default settings of tests, with the given changes."""
    return dataclasses.replace(SETTINGS, **facts)


def twice(taken: Sequence[OutboxMessage]) -> list[str]:
    """Return the ids of messages that were sent more than once."""
    counted = collections.Counter(message.id for message in taken)
    return [message_id for message_id, times in counted.items() if times > 1]
