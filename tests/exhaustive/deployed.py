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

"""An installation of several processes, with many resource types, and its users.

API processes and managers share a database, a broker and a simulated cloud. What they have
done is added up with plain SQL, and from what the simulated cloud itself has.
"""

from __future__ import annotations

import collections
import json
import os
import pathlib
import random
from collections.abc import Mapping
from typing import Any

import amqp
import fixtures
import sqlalchemy as sa

from climate.clock import SystemClock
from climate.cmd import composition
from climate.db import migration
from climate.simulator import SimulatedCloud
from climate.testing.kinds import TypeRegistrar
from tests import drafts
from tests import services
from tests.exhaustive.deployed_users import Users
from tests.exhaustive.races import records
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
    'server booted',
    'made:stack',
)
AT_WORK = 'is at work'
_PLUGINS = ({*TYPES} - {'server booted', 'made:stack'}) | {'virtual:server', 'virtual:stack'}
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


class Installation(fixtures.Fixture):
    """A database, a broker and a cloud with resources of all types.

    :ivar database: the proxy in front of the database
    :ivar broker: the proxy in front of the broker
    :ivar receiver: of the webhook
    :ivar requests: the reservations of a lease of each type
    """

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind

    def _setUp(self) -> None:
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        broker = self.useFixture(services.Broker())
        self.topic = broker.topic('notifications')
        url = self.useFixture(services.Database(self._kind)).url
        conf = racers.configuration(url)
        conf.set_override('resource_types', sorted(_PLUGINS))
        self.core = composition.core(conf, SystemClock())
        self.addCleanup(self.core.store.close)
        migration.sync(self.core.store.engine)
        self.cloud = SimulatedCloud(self.folder / 'cloud', clock=self.core.clock)
        self.addCleanup(self.cloud.close)
        self._fill()
        self.receiver = self.useFixture(Receiver())
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
            if name == 'network':
                for number in (101, 102, 103):
                    facts = {'network_type': 'vlan', 'physical_network': 'physnet1'}
                    place.register(name, **facts, segment_id=number)
                self.requests[name] = ({'resource_type': name, 'network_name': 'storm'},)
            else:
                self.requests[name] = KINDS[name].furnish(place)
        self.before = self.cloud.contents()

    def rows(self, query: str) -> list[Any]:
        """Return the rows of a query of the database itself, not through the proxy."""
        with self.core.store.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(sa.text(query))]

    def overbooked(self) -> list[str]:
        """Return what is booked twice at this moment: in the database, and in the cloud."""
        with self.core.store.engine.connect() as connection:
            found = records.overbooked(records.read(connection))
        query = "SELECT id FROM reservations WHERE resource_type = 'physical:host'"
        whole = {row[0] for row in self.rows(query)}
        # Slots of several leases share a host.
        counted = collections.Counter(
            host for item in self.cloud.aggregates() if item.name in whole for host in item.hosts
        )
        return found + [f'{host} in {times} leases' for host, times in counted.items() if times > 1]

    def unsettled(self) -> list[Any]:
        """Return what is still to be done for leases that are over."""
        return [
            row
            for query in (
                'SELECT id, status, next_due FROM leases WHERE next_due IS NOT NULL',
                "SELECT lease_id, kind, error FROM events WHERE state NOT IN ('DONE', 'ERROR')",
                "SELECT reservation_id, state FROM allocations WHERE state <> 'released'",
                'SELECT lease_id, event_type, error FROM outbox',
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
        ids = {row[0] for row in self.rows('SELECT id FROM leases')}
        found = [*users.problems, *self.overbooked(), *map(str, self.failed())]
        found += [f'{row[0]}: booked twice' for row in self.rows(named)]
        found += [f'{one}: accepted, and lost' for one in users.accepted.values() if one not in ids]
        found += [
            f'{kind}: no lease was accepted, but {dict(users.refused)}'
            for kind in TYPES
            if not users.kinds[kind]
        ]
        notified = self.notified()
        posted: set[Any] = {
            one.event.get('data', {}).get('lease_id') for one in self.receiver.received
        }
        for lease_id in users.accepted.values():
            if 'lease.create' not in notified[lease_id]:
                found.append(f'{lease_id}: no notification on the bus')
            if lease_id not in posted:
                found.append(f'{lease_id}: no event for the webhook')
        return found + self._left()

    def _left(self) -> list[str]:
        """Compare the cloud, row by row, with what it was before the leases."""
        for kind in TYPES:
            # What the end of a lease leaves on purpose.
            KINDS[kind].put_away(self.cloud)
        after = self.cloud.contents()
        return [
            f'{table} in the cloud: {rows} before, {after[table]} afterwards'
            for table, rows in self.before.items()
            # A trust whose answer was lost remains until the repair looks for it.
            if table != 'trusts' and sorted(map(str, rows)) != sorted(map(str, after[table]))
        ]

    def notified(self) -> dict[str, set[str]]:
        """Return the notifications on the bus, by lease."""
        url = services.address(services.RABBITMQ)
        found: dict[str, set[str]] = collections.defaultdict(set)
        with amqp.Connection(
            host=f'{url.host}:{url.port or 5672}',
            userid=url.username or 'guest',
            password=url.password or 'guest',
            virtual_host=url.database or '/',
        ) as connection:
            channel = connection.channel()
            while (message := channel.basic_get(f'{self.topic}.info', no_ack=True)) is not None:
                sent = json.loads(json.loads(message.body)['oslo.message'])
                found[sent['payload'].get('lease_id', '')].add(sent['event_type'])
        return found


def seed() -> int:
    """Return the seed of this run, and print it."""
    found = int(os.environ.get('CLIMATE_STORM_SEED', random.SystemRandom().randrange(10**6)))
    print(f'CLIMATE_STORM_SEED={found}')
    return found


def seconds() -> float:
    """Return how long users work."""
    return float(os.environ.get('CLIMATE_STORM_SECONDS', '30'))
