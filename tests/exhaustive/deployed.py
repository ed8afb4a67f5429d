# SPDX-License-Identifier: Apache-2.0

"""An installation of several processes, with many resource types, and its users.

API processes and managers share a database, a broker and a simulated cloud. What they have
done is added up with plain SQL, and from what the simulated cloud itself has.
"""

from __future__ import annotations

import collections
import os
import pathlib
import random
import threading
from collections.abc import Mapping
from typing import Any

import fixtures
import sqlalchemy as sa

from climate.clock import SystemClock
from climate.cmd import composition
from climate.db.migrations import migration
from climate.simulator import SimulatedCloud
from climate.simulator.volume_contents import POOL
from climate.simulator.volume_types import DEFAULT_TYPE
from climate.testing.kinds import TypeRegistrar
from tests import base
from tests import commands
from tests import drafts
from tests import services
from tests import usage_service
from tests.exhaustive import deployed_ledger
from tests.exhaustive.deployed_users import Users
from tests.exhaustive.races import records
from tests.functional import processes
from tests.functional import racers
from tests.functional.manager.receivers import Receiver
from tests.functional.manager.walk.kinds import KINDS
from tests.functional.messaging.proxy import Proxy

HOSTS = 6
# Types whose resources and objects do not disturb each other in one cloud.
TYPES = (
    'physical:host',
    'virtual:instance',
    'flavor:instance',
    'virtual:floatingip',
    'network',
    'physical:storage',
    'virtual:volume',
    'server booted',
    'made:stack',
    drafts.RACKS.name,
)
AT_WORK = 'is at work'
_NAMED_OTHERWISE = {'server booted', 'made:stack', drafts.RACKS.name}
_PLUGINS = ({*TYPES} - _NAMED_OTHERWISE) | {'virtual:server', 'virtual:stack'}
_DECLARED = f'resource_types: [{{name: "{drafts.RACKS.name}", noun: {drafts.RACKS.noun}}}]\n'
_PORTS = {services.MARIADB: 3306, services.POSTGRESQL: 5432}

_CONFIGURATION = """
[DEFAULT]
auth_strategy = noauth
cloud = simulated
resource_types = {types}
control_exchange = {exchange}
transport_url = {broker}
[simulator]
state_dir = {cloud}
[database]
connection = {database}
encryption_keys = v1Z0hFPDUp5WkYcM1x8q3eQm6bWvGr1rVq2m8v2mZ1U=
[limits]
override = blue: leases=0
[custom]
types_file = {declared}
[enforcement]
enabled_filters = external_service
external_service_base_endpoint = {usage_service}
external_service_timeout = 4
[oslo_messaging_notifications]
topics = {topic}
[manager]
rpc_topic = {rpc_topic}
claim_seconds = 2
max_sleep = 0.5
workers = 8
retry_longest_pause = 2
notify_before_start =
[webhooks]
allow_http = true
allowed_networks = 127.0.0.0/8
retry_longest_pause = 2
"""

_AN_HOUR_LATER = (
    'UPDATE trusts SET made_at = :then',
    'UPDATE intents SET written_at = :then',
    'UPDATE chores SET claim_until = :then',
)


class Installation(fixtures.Fixture):
    """A database, a broker and a cloud with resources of all types.

    :ivar database: the proxy in front of the database
    :ivar broker: the proxy in front of the broker
    :ivar receiver: of the webhook
    :ivar usage_service: allows all leases, and is notified of their costs
    :ivar requests: the reservations of a lease of each type
    """

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind
        self._seen: set[tuple[str, str]] = set()

    def _setUp(self) -> None:
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        broker = self.useFixture(services.Broker())
        self.topic = broker.topic('notifications')
        url = self.useFixture(services.Database(self._kind)).url
        # Without the time limits of the service, and without its code.
        self._engine = sa.create_engine(url)
        self.addCleanup(self._engine.dispose)
        conf = racers.configuration(url)
        declared = self.folder / 'types.yaml'
        declared.write_text(_DECLARED)
        conf.set_override('resource_types', sorted(_PLUGINS))
        conf.set_override('types_file', str(declared), group='custom')
        self.core = composition.core(conf, SystemClock())
        self.addCleanup(self.core.store.close)
        migration.sync(self.core.store.engine)
        self.cloud = SimulatedCloud(self.folder / 'cloud', clock=self.core.clock)
        self.addCleanup(self.cloud.close)
        self._fill()
        self.receiver = self.useFixture(Receiver())
        self.usage_service = self.useFixture(usage_service.UsageService())
        server, rabbit = sa.make_url(url), services.address(services.RABBITMQ)
        host = server.host or '127.0.0.1'
        self.database = self.useFixture(Proxy(host, server.port or _PORTS[self._kind]))
        self.broker = self.useFixture(Proxy(rabbit.host or '127.0.0.1', rabbit.port or 5672))
        self.database.open()
        self.broker.open()
        through = server.set(host='127.0.0.1', port=self.database.port)
        relayed = rabbit.set(host='127.0.0.1', port=self.broker.port)
        self.file = self.folder / 'climate.conf'
        self.file.write_text(
            _CONFIGURATION.format(
                types=', '.join(sorted(_PLUGINS)),
                exchange=broker.exchange,
                broker=relayed.render_as_string(hide_password=False),
                database=through.render_as_string(hide_password=False),
                cloud=self.folder / 'cloud',
                declared=declared,
                usage_service=self.usage_service.url,
                topic=self.topic,
                rpc_topic=broker.topic('managers'),
            )
        )

    def _fill(self) -> None:
        self.cloud.seed(HOSTS)
        place = TypeRegistrar(self.core.store, self.core.plugins, self.cloud)
        for number in range(1, HOSTS + 1):
            draft = drafts.host(f'compute-{number}')
            place.register(draft.resource_type, draft.name)
        self.requests: dict[str, tuple[Mapping[str, Any], ...]] = {}
        for name in TYPES:
            self.requests[name] = _OWN.get(name, KINDS[name].furnish)(place)
        self.before = self.cloud.contents()

    def rows(self, query: str) -> list[Any]:
        """Return the rows of a query of the database itself, not through the proxy."""
        with self._engine.connect() as connection:
            return [tuple(row) for row in connection.execute(sa.text(query))]

    def overbooked(self) -> list[str]:
        """Return what is booked twice at this moment: in the database, and in the cloud."""
        with self._engine.connect() as connection:
            found = records.overbooked(records.read(connection))
        query = "SELECT id FROM reservations WHERE resource_type = 'physical:host'"
        whole = {row[0] for row in self.rows(query)}
        # Slots of several leases share a host.
        counted = collections.Counter(
            host for item in self.cloud.aggregates() if item.name in whole for host in item.hosts
        )
        return found + [f'{host} in {times} leases' for host, times in counted.items() if times > 1]

    def watch(self, over: threading.Event) -> list[str]:
        """Watch the bookings and the states of leases until *over*; return double bookings."""
        twice: list[str] = []
        while not over.wait(0.5):
            twice += self.overbooked()
            self._seen.update(self.rows('SELECT id, status FROM leases'))
        return twice

    def unsettled(self) -> list[Any]:
        """Return what is still to be done for leases that are over."""
        return [
            row
            for query in (
                'SELECT id, status, next_due FROM leases WHERE next_due IS NOT NULL',
                "SELECT lease_id, kind, error FROM events WHERE state NOT IN ('DONE', 'ERROR')",
                "SELECT reservation_id, state FROM allocations WHERE state <> 'released'",
                'SELECT lease_id, event_type, error FROM outbox',
                'SELECT lease_id, state, error FROM charges',
                'SELECT webhook_id, event_type, error FROM webhook_deliveries'
                " WHERE state <> 'delivered'",
            )
            for row in self.rows(query)
        ]

    def failed(self) -> list[Any]:
        """Return the events that failed, except those that came too late.

        And for starts on a host that users without a lease have meanwhile taken.
        """
        rows = self.rows("SELECT lease_id, kind, attempts, error FROM events WHERE state = 'ERROR'")
        allowed = ('the lease had ended before it could start', 'has servers')
        return [row for row in rows if not any(words in str(row[3]) for words in allowed)]

    def complaints(self, users: Users) -> list[str]:
        """Return what is wrong after all leases are over."""
        named = 'SELECT name FROM leases GROUP BY name HAVING count(*) > 1'
        ids = dict(self.rows('SELECT id, name FROM leases'))
        found = [*users.problems, *self.overbooked(), *map(str, self.failed())]
        found += [f'{row[0]}: booked twice' for row in self.rows(named)]
        found += [f'{one}: accepted, and lost' for one in users.accepted.values() if one not in ids]
        found += [
            f'{kind}: no lease was accepted, but {dict(users.refused)}'
            for kind in TYPES
            if not users.kinds[kind]
        ]
        accepted = set(users.accepted.values())
        found += [
            f'{one}: booked, but answered {users.answers.get(ids[one])}'
            for one in sorted(set(ids) - accepted)
        ]
        found += deployed_ledger.miscounted(self.usage_service.calls, ids)
        self.wanted = deployed_ledger.expected(ids, self._seen)
        notified = deployed_ledger.on_the_bus(self.topic)
        found += deployed_ledger.lost(self.wanted, notified, 'on the bus')
        posted = deployed_ledger.posted(one.event for one in self.receiver.received)
        found += deployed_ledger.lost(self.wanted, posted, 'for the webhook')
        return found + self._repair() + self._left()

    def _repair(self) -> list[str]:
        """Repair what killed processes left of leases that were not booked; return what stays.

        The repair touches only what is an hour old, and begins when no other one is running.
        """
        with self._engine.begin() as connection:
            for statement in _AN_HOUR_LATER:
                connection.execute(sa.text(statement), {'then': '2001-01-01 00:00:00'})
        words = ('climate-manage', '--config-file', str(self.file), 'lease', 'repair')
        done = commands.captured(
            [str(processes.BIN / words[0]), *words[1:]],
            env=processes.clean_environment(),
            timeout=300,
        )
        self.repaired = done.stdout.splitlines()
        return [] if done.returncode == 0 else [f'repair: {done.stdout}{done.stderr}']

    def _left(self) -> list[str]:
        """Compare the cloud, row by row, with what it was before the leases."""
        for kind in TYPES:
            # What the end of a lease leaves on purpose.
            KINDS[kind].put_away(self.cloud)
        after = self.cloud.contents()
        return [
            f'{table} in the cloud: {rows} before, {after[table]} afterwards'
            for table, rows in self.before.items()
            if sorted(map(str, rows)) != sorted(map(str, after[table]))
        ]

    def figures(self, users: Users) -> str:
        """Return what was done, after the complaints."""
        figures = {
            'leases': len(users.accepted),
            'refusals': sum(users.refused.values()),
            'reallocations': users.reallocations,
            'events': sum(map(len, self.wanted.values())),
            'posts': len(self.receiver.received),
            'questions': len({call.body['id'] for call in self.usage_service.calls}),
        }
        kinds = ', '.join(f'{users.kinds[kind]} of {kind}' for kind in TYPES)
        repaired = ''.join(f'\nrepair: {line}' for line in self.repaired)
        return f'{self._kind}: {_listed(figures)} ({kinds}){repaired}'


def _segments(place: TypeRegistrar) -> tuple[Mapping[str, Any], ...]:
    for number in (101, 102, 103):
        facts = {'network_type': 'vlan', 'physical_network': 'physnet1'}
        place.register('network', **facts, segment_id=number)
    return ({'resource_type': 'network', 'network_name': 'storm'},)


def _volumes(place: TypeRegistrar) -> tuple[Mapping[str, Any], ...]:
    # Without the server that the walk attaches them to: it would be on a leased host.
    place.register('physical:storage', POOL)
    on_end = ['detach', 'delete']
    common = {'resource_type': 'virtual:volume', 'volume_type': DEFAULT_TYPE}
    return ({**common, 'size': 10, 'amount': 2, 'on_end': on_end},)


def _pools(place: TypeRegistrar) -> tuple[Mapping[str, Any], ...]:
    # Not the pool of the volumes: leases of whole pools could keep it all the time.
    requests = KINDS['physical:storage'].furnish(place)
    elsewhere = f'["!=", "$backend", "{POOL.partition("#")[0]}"]'
    return tuple({**request, 'resource_properties': elsewhere} for request in requests)


def _racks(place: TypeRegistrar) -> tuple[Mapping[str, Any], ...]:
    # One of three, so that it can be replaced.
    (request,) = KINDS[drafts.RACKS.name].furnish(place)
    return ({**request, 'min': 1, 'max': 1},)


_OWN = {
    'network': _segments,
    'physical:storage': _pools,
    'virtual:volume': _volumes,
    drafts.RACKS.name: _racks,
}


def _listed(figures: Mapping[str, int]) -> str:
    return ', '.join(f'{count} {name}' for name, count in figures.items())


def seed() -> int:
    """Return the seed of this run, and print it."""
    found = int(os.environ.get('CLIMATE_STORM_SEED', random.SystemRandom().randrange(10**6)))
    print(f'CLIMATE_STORM_SEED={found}')
    return found


def seconds() -> float:
    """Return how long users work."""
    return float(os.environ.get('CLIMATE_STORM_SECONDS', '30'))


class InstalledCase(base.TestCase):
    """A test case with an installation, whose processes it starts."""

    kind = ''

    def setUp(self) -> None:
        super().setUp()
        services.require(self.kind)
        services.require(services.RABBITMQ)
        self.installed = self.useFixture(Installation(self.kind))

    def started(self, *words: str) -> processes.Command:
        """Start a process with the configuration of the installation."""
        words = (words[0], '--config-file', str(self.installed.file), *words[1:])
        return self.useFixture(processes.Command(*words, folder=self.installed.folder))
