# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Managers driven step by step, by a clock that tests move."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import random
from collections.abc import Callable
from collections.abc import Sequence
from typing import Any

import fixtures
from oslo_config import cfg

from climate.clients.base import Cloud
from climate.clients.fake import Twin
from climate.clock import Clock
from climate.clock import ManualClock
from climate.db import migration
from climate.db.store import register_opts
from climate.db.store import Store
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.requests import Caller
from climate.domain.requests import LeaseChange
from climate.domain.requests import LeaseDraft
from climate.domain.requests import ReservationChange
from climate.enforcement.gate import Gate
from climate.leasing.beginning import Beginner
from climate.leasing.leases import Leases
from climate.leasing.registrar import Registrar
from climate.leasing.settings import LeasingSettings
from climate.leasing.settling import Settler
from climate.manager.charges import ChargeSender
from climate.manager.claims import Claims
from climate.manager.effects import perform
from climate.manager.outbox import OutboxSender
from climate.manager.repair import Repair
from climate.manager.worker import Worker
from climate.messaging.publisher import BrokerUnavailable
from climate.messaging.publisher import OutboxMessage
from climate.plugins.host_pools import HostSettings
from climate.plugins.isolation import Isolation
from climate.plugins.physical_host import PhysicalHost
from tests import drafts
from tests import services

NOW = datetime.datetime(2030, 1, 1, 12, tzinfo=datetime.UTC)
PROJECT = 'blue'
CALLER = Caller(user_id='alice', project_id=PROJECT)
CLAIM_SECONDS = 10.0
SETTINGS = LeasingSettings(
    notify_before_start=(300, 60),
    notify_before_end=datetime.timedelta(seconds=600),
    prepare_lead_time=datetime.timedelta(seconds=60),
    check_interval=datetime.timedelta(seconds=900),
    effect_deadline=datetime.timedelta(seconds=120),
    retry_first_pause=1.0,
    retry_longest_pause=30.0,
    handover_pause=datetime.timedelta(seconds=1),
)


class Bus:
    """Takes notifications, unless it is told to refuse some.

    :ivar taken: what was taken, in this order
    :ivar refuses: says of a message whether it is refused
    """

    def __init__(self) -> None:
        self.taken: list[OutboxMessage] = []
        self.refuses: Callable[[OutboxMessage], bool] = lambda _: False

    def publish(self, messages: Sequence[OutboxMessage]) -> None:
        """Take *messages* up to the first that is refused."""
        for number, message in enumerate(messages):
            if self.refuses(message):
                raise BrokerUnavailable(published=number)
            self.taken.append(message)

    def told(self, lease: Lease | None = None) -> list[str]:
        """Return the types of what was taken, without their common prefix."""
        return [
            message.event_type.removeprefix('lease.').removeprefix('event.')
            for message in self.taken
            if lease is None or message.payload['lease_id'] == lease.id
        ]

    def last(self, event_type: str) -> dict[str, Any]:
        """Return the payload of the last message of a type."""
        return dict([item.payload for item in self.taken if item.event_type == event_type][-1])


class Office(fixtures.Fixture):
    """A database, a cloud of four hosts, and as many managers as one likes."""

    def __init__(
        self,
        settings: LeasingSettings = SETTINGS,
        database: str = services.SQLITE,
        hosts: int = 4,
        clock: Clock | None = None,
        isolation: Isolation = Isolation.FILTER,
        gate: Gate | None = None,
        cloud: str = ':memory:',
    ) -> None:
        super().__init__()
        self.cloud = cloud
        self.gate = gate or Gate()
        self.isolation = isolation
        self.clock: Any = clock or ManualClock(NOW)
        self.settings = settings
        self._kind = database
        self._hosts = hosts

    def _setUp(self) -> None:
        database = self.useFixture(services.Database(self._kind))
        self.conf = cfg.ConfigOpts()
        register_opts(self.conf)
        self.conf([])
        self.conf.set_override('connection', database.url, group='database')
        self.store = Store(self.conf, self.clock)
        self.addCleanup(self.store.close)
        migration.metadata().create_all(self.store.engine)
        self.twin = Twin(self.cloud, clock=self.clock)
        self.addCleanup(self.twin.close)
        self.twin.seed(self._hosts)
        self.plugins = {'physical:host': self._plugin()}
        registrar = Registrar(self.store, self.plugins, self.twin)
        for number in range(1, self._hosts + 1):
            registrar.register_resource(drafts.host(f'compute-{number}'))
        self.leases = Leases(
            self.store,
            self.plugins,
            self.clock,
            self.settings,
            lambda: None,
            random.Random(7),
            gate=self.gate,
        )
        self.bus = Bus()
        self._managers = 0
        self.manager = self.hire()

    def _plugin(self) -> PhysicalHost:
        return PhysicalHost(HostSettings(isolation=self.isolation))

    # -- managers

    def configure(self, isolation: Isolation) -> None:
        """Start every manager anew with another isolation."""
        self.isolation = isolation
        self.plugins['physical:host'] = self._plugin()

    @property
    def managed(self) -> Cloud:
        """The cloud as the managers have it that are hired now."""
        return self.twin

    def hire(self, batch: int = 100) -> Manager:
        """Return a new manager that sends so many notifications at one go."""
        self._managers += 1
        return Manager(self, f'manager-{self._managers}', batch)

    def work(self) -> None:
        """Do what is due now, and send what is to be told."""
        while self.manager.look():
            continue
        self.manager.send()

    def until(self, seconds: float) -> None:
        """Let time pass to so many seconds after noon, and do what comes due.

        Time jumps from one due instant to the next, so nothing is ever late.
        """
        end = at(seconds)
        self.work()
        while True:
            with self.store.reading() as tx:
                due = tx.claims.next_due()
            if due is None or due > end:
                break
            # A claim that runs out can be taken over the instant after.
            self.clock.move_to(max(due, self.clock.now() + datetime.timedelta(milliseconds=1)))
            self.work()
        self.clock.move_to(end)

    def away_until(self, seconds: float) -> None:
        """Let time pass while no manager is there."""
        self.clock.move_to(at(seconds))

    def seconds(self) -> float:
        """Return how many seconds it is after noon."""
        return float((self.clock.now() - NOW).total_seconds())

    def repair(self) -> Repair:
        """Return a repair that nobody has begun yet."""
        self._managers += 1
        owner = f'repair-{self._managers}'
        claims = Claims(self.store, self.clock, owner, CLAIM_SECONDS)
        return Repair(self.store, self.plugins, self.managed, self.clock, self.settings, claims)

    # -- users

    def create(self, start: float = 0, end: float = 3600, hosts: int = 1, **facts: Any) -> Lease:
        """Book whole hosts, from and to so many seconds after noon."""
        reservation = {
            'resource_type': 'physical:host',
            'min': hosts,
            'max': hosts,
            'before_end': facts.pop('action', ''),
        }
        draft = LeaseDraft(
            name=facts.pop('name', 'l'),
            start=at(start),
            end=at(end),
            reservations=(reservation,) if hosts else (),
            grain=datetime.timedelta(0),
            asked_at=min(at(start), self.clock.now()),
            **facts,
        )
        return self.leases.create(CALLER, draft)

    def update(self, lease: Lease, **facts: Any) -> Lease:
        """Change a lease: start and end in seconds after noon, number of hosts."""
        for key in ('start', 'end'):
            if key in facts:
                facts[key] = at(facts[key])
        hosts = facts.pop('hosts', None)
        if hosts is not None:
            change = ReservationChange(
                id=lease.reservations[0].id, body={'min': hosts, 'max': hosts}
            )
            facts['reservations'] = (change,)
        change_all = LeaseChange(grain=datetime.timedelta(0), **facts)
        return self.leases.update(CALLER, lease.id, PROJECT, change_all)

    def delete(self, lease: Lease) -> None:
        """Delete a lease."""
        self.leases.delete(CALLER, lease.id, PROJECT)

    # -- what there is

    def now(self, lease: Lease) -> Lease:
        """Return a lease as it is now, deleted or not."""
        with self.store.reading() as tx:
            found = tx.leases.find(lease.id)
        if found is None:
            raise LookupError(lease.id)
        return found

    def status(self, lease: Lease) -> str:
        """Return where a lease is in its life; 'gone' if it was deleted."""
        try:
            return self.now(lease).status.value
        except LookupError:
            return 'gone'

    def reservation(self, lease: Lease) -> str:
        """Return where the reservation of a lease is in its life."""
        return self.now(lease).reservations[0].status.value

    def event(self, lease: Lease, kind: EventKind) -> Event:
        """Return the only event of a kind."""
        (found,) = (item for item in self.now(lease).events if item.kind is kind)
        return found

    def allocations(self, lease: Lease) -> list[Allocation]:
        """Return what a lease has, booked or held."""
        with self.store.reading() as tx:
            return tx.allocations.live_of([item.id for item in lease.reservations])

    def hosts(self, lease: Lease) -> set[str]:
        """Return the hosts in the aggregate of a lease."""
        names = {item.id for item in lease.reservations}
        return {
            host for item in self.twin.aggregates() if item.name in names for host in item.hosts
        }

    def places(self) -> dict[str, list[str]]:
        """Return the aggregates that each host is in."""
        return {
            host.service_host: [
                item.name for item in self.twin.aggregates() if host.service_host in item.hosts
            ]
            for host in self.twin.hypervisors()
        }

    def pooled(self) -> set[str]:
        """Return the hosts that are in the pool and nowhere else."""
        return {host for host, names in self.places().items() if names == ['freepool']}

    def boot(self, lease: Lease) -> str:
        """Start a server on a host of a lease; return its id."""
        host = sorted(self.hosts(lease))[0]
        return self.twin.boot_server(host, PROJECT, 'server').id

    def waiting(self) -> int:
        """How many notifications were not sent yet."""
        with self.store.reading() as tx:
            return tx.outbox.waiting()


class Manager:
    """One manager: what its threads would do, when a test says so."""

    def __init__(self, office: Office, owner: str, batch: int) -> None:
        self._office = office
        self.owner = owner
        self.claims = Claims(office.store, office.clock, owner, CLAIM_SECONDS)
        self.worker = Worker(
            office.store,
            office.plugins,
            office.managed,
            office.settings,
            self.claims,
            lambda: None,
            office.gate,
        )
        self.sender = OutboxSender(
            office.store, office.clock, office.bus, owner, batch=batch, max_sleep=1.0
        )
        self.charges = ChargeSender(office.store, office.clock, office.gate, owner)

    def look(self, limit: int = 8) -> list[str]:
        """Claim what is due and work it off; return the leases."""
        ids = self.claims.take(limit)
        for lease_id in ids:
            self.worker.work(lease_id)
            while not self.claims.forget(lease_id):
                self.worker.work(lease_id)
        return ids

    def send(self) -> None:
        """Send what waits."""
        while self.sender.send_once():
            continue
        while self.charges.send_once():
            continue

    def die_after(self, step: str) -> None:
        """Claim what is due, get as far as *step* with one lease, and do no more.

        :param step: 'claim', 'begin', 'effect' or 'settle'
        """
        office = self._office
        (lease_id,) = self.claims.take(1)
        if step == 'claim':
            return
        beginner = Beginner(office.plugins, office.settings, self.owner)
        job = office.store.run(lambda tx: beginner.begin(tx, lease_id))
        if job is None or step == 'begin':
            return
        report = perform(job, office.plugins, office.twin)
        if step == 'effect':
            return
        settler = Settler(office.plugins, office.settings, self.owner, office.gate)
        office.store.run(lambda tx: settler.settle(tx, job, report))


def at(seconds: float) -> datetime.datetime:
    """Return the instant so many seconds after noon."""
    return NOW + datetime.timedelta(seconds=seconds)


def changed(**facts: Any) -> LeasingSettings:
    """Return the usual settings with some that differ."""
    return dataclasses.replace(SETTINGS, **facts)


def twice(taken: Sequence[OutboxMessage]) -> list[str]:
    """Return the ids that came more than once."""
    counted = collections.Counter(message.id for message in taken)
    return [message_id for message_id, times in counted.items() if times > 1]
