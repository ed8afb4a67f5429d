# SPDX-License-Identifier: Apache-2.0

"""The database or the broker is gone for a while: nothing is lost."""

from __future__ import annotations

import datetime
import time
from typing import Any

from oslo_config import cfg

from climate.cmd import composition
from climate.cmd import config
from climate.cmd import managing
from climate.db.migrations import migration
from climate.messaging import publisher
from climate.messaging import rpc
from climate.messaging import transport
from climate.resources.registrar import Registrar
from climate.simulator import SimulatedCloud
from tests import base
from tests import drafts
from tests import services
from tests import waiting
from tests.databases import fetch
from tests.functional import http
from tests.functional.manager.harness import Bus
from tests.functional.messaging.proxy import Proxy
from tests.functional.processes import until

HOSTS = 2
SECOND = datetime.timedelta(seconds=1)


class OutageCase(base.TestCase):
    """A service of real parts but for the cloud."""

    def configured(self, url: str) -> cfg.ConfigOpts:
        conf = config.new_conf()
        conf([], project='climate', default_config_files=[])
        for group, name, value in (
            ('database', 'connection', url),
            (None, 'auth_strategy', 'noauth'),
            (None, 'transport_url', 'fake://'),
            ('manager', 'claim_seconds', 2.0),
            ('manager', 'max_sleep', 0.2),
            ('manager', 'notify_before_start', []),
            ('manager', 'minutes_before_end_lease', 0),
        ):
            conf.set_override(name, value, group=group)
        return conf

    def compose(self, conf: cfg.ConfigOpts, bus: publisher.Publisher, wake: Any = None) -> None:
        self.parts = composition.core(conf)
        self.addCleanup(self.parts.store.close)
        migration.metadata().create_all(self.parts.store.engine)
        self.cloud = self.closing(SimulatedCloud(':memory:', clock=self.parts.clock))
        self.cloud.seed(HOSTS)
        registrar = Registrar(self.parts.store, self.parts.plugins, self.cloud)
        for number in range(1, HOSTS + 1):
            registrar.register_resource(drafts.host(f'compute-{number}'))
        self.manager = managing.manager(self.parts, self.cloud, bus)
        self.app = composition.api(
            self.parts, registry=registrar, wake=wake or self.manager.wake, health={}
        )
        self.manager.start()
        self.addCleanup(self.manager.stop, 2.0)

    def post(self, start: float, end: float) -> Any:
        now = datetime.datetime.now(datetime.UTC)
        body = {
            'name': 'l',
            'start_date': (now + datetime.timedelta(seconds=start)).isoformat() if start else 'now',
            'end_date': (now + datetime.timedelta(seconds=end)).isoformat(),
            'reservations': [{'resource_type': 'physical:host', 'min': 1, 'max': 1}],
        }
        return http.send(self.app, 'POST', '/v1/leases', body, version='1.1')

    def create(self, start: float, end: float) -> str:
        answer = self.post(start, end)
        self.assertEqual(201, answer.status_code, answer.text)
        return str(answer.json['lease']['id'])

    def status(self, lease_id: str) -> str:
        answer = http.send(self.app, 'GET', f'/v1/leases/{lease_id}')
        return str(answer.json['lease']['status']) if answer.status_code == 200 else answer.status


class DatabaseGone:
    """The database goes away and comes back."""

    kind = services.MARIADB

    def setUp(self) -> None:
        super().setUp()
        server = services.sa.make_url(self.useFixture(services.Database(self.kind)).url)
        self.door = self.useFixture(
            Proxy(server.host or '127.0.0.1', server.port or (3306, 5432)[self.is_postgresql])
        )
        self.door.open()
        through = server.set(host='127.0.0.1', port=self.door.port)
        # Of the test itself, which needs the database while the service has none.
        self.directly = services.sa.create_engine(server)
        self.addCleanup(self.directly.dispose)
        self.bus = Bus()
        self.compose(self.configured(through.render_as_string(hide_password=False)), self.bus)

    @property
    def is_postgresql(self) -> bool:
        return self.kind != services.MARIADB

    def make_due(self, lease_id: str, kind: str, column: str) -> None:
        """Have an event of a lease become due in a second, however long the test took so far.

        :param column: of the date of the lease at which it happens
        """
        values = {
            'lease': lease_id,
            'kind': kind,
            'at': datetime.datetime.now(datetime.UTC).replace(tzinfo=None) + SECOND,
        }
        with self.directly.begin() as connection:
            for statement in (
                f'UPDATE leases SET {column} = :at, next_due = :at WHERE id = :lease',
                'UPDATE events SET time = :at, due = :at WHERE lease_id = :lease AND kind = :kind',
            ):
                connection.execute(services.sa.text(statement), values)

    def test_the_api_says_so_the_manager_waits_and_nothing_is_lost(self) -> None:
        running, coming = self.create(0, 600), self.create(300, 900)
        until('it is active', lambda: self.status(running) == 'ACTIVE')
        self.door.shut()
        self.make_due(running, 'end_lease', 'end_date')
        self.make_due(coming, 'start_lease', 'start_date')
        for send in (lambda: http.send(self.app, 'GET', '/v1/leases'), lambda: self.post(60, 70)):
            with waiting.coming_back():
                answer = send()
                self.assert_has(answer, status_code=503, content_type='application/json')
                self.assertEqual(503, answer.json['error_code'])
                self.assertIn('database', answer.json['error_message'].lower())
                self.assertNotIn('root', answer.text)
        deadline = time.monotonic() + 3
        until('a while has passed', lambda: time.monotonic() > deadline)
        self.assertEqual(503, http.send(self.app, 'DELETE', f'/v1/leases/{coming}').status_code)
        self.door.open()
        until('the API answers', lambda: self.status(coming) == 'ACTIVE')
        until('what ended meanwhile has ended', lambda: self.status(running) == 'TERMINATED')
        # What was sent when the database went is sent again, under the same id.
        until('all notifications are sent', lambda: len({item.id for item in self.bus.taken}) >= 5)
        once = {item.id: item for item in self.bus.taken}.values()
        notified = {
            lease: [item.event_type for item in once if item.payload['lease_id'] == lease]
            for lease in (running, coming)
        }
        start, end = 'lease.event.start_lease', 'lease.event.end_lease'
        self.assertEqual(['lease.create', start, end], notified[running])
        self.assertEqual(['lease.create', start], notified[coming])
        self.assertGreater(self.bus.last(end)['late_by_seconds'], 0.5)
        self.assertEqual(204, http.send(self.app, 'DELETE', f'/v1/leases/{coming}').status_code)
        until('all hosts are back', lambda: len(self.cloud.aggregates()) == 1)

    def test_unavailable_from_the_start(self) -> None:
        lease = self.create(0, 600)
        until('it is active', lambda: self.status(lease) == 'ACTIVE')
        self.door.shut()
        self.manager.stop(1.0)
        self.manager = managing.manager(self.parts, self.cloud, self.bus)
        self.manager.start()
        self.addCleanup(self.manager.stop, 2.0)
        self.door.open()
        other = until('the API answers', lambda: self.post(0, 600).json.get('lease'))
        until('it is active', lambda: self.status(other['id']) == 'ACTIVE')


class TestMariadbGone(DatabaseGone, OutageCase):
    """MariaDB."""


class TestPostgresqlGone(DatabaseGone, OutageCase):
    """PostgreSQL."""

    kind = services.POSTGRESQL


class TestBrokerGone(OutageCase):
    """RabbitMQ goes away: leases continue, and their notifications arrive later."""

    def setUp(self) -> None:
        super().setUp()
        broker = self.useFixture(services.Broker())
        url = services.address(services.RABBITMQ)
        self.door = self.useFixture(Proxy(url.host or '127.0.0.1', url.port or 5672))
        through = url.set(host='127.0.0.1', port=self.door.port)
        conf = self.configured(self.useFixture(services.Database(services.SQLITE)).url)
        conf.set_override('transport_url', through.render_as_string(hide_password=False))
        conf.set_override('control_exchange', broker.exchange)
        self.topic = broker.topic('notifications')
        conf.set_override('topics', [self.topic], group='oslo_messaging_notifications')
        bus = self.closing(publisher.from_conf(conf))
        managers = broker.topic('managers')
        client = rpc.ManagerClient(transport.rpc_transport(conf), topic=managers)
        self.compose(conf, bus, client.wake)

    def test_leases_start_and_end_and_are_reported_afterwards(self) -> None:
        # A wake-up that reaches nobody must not keep the caller: test_rpc sends a thousand.
        with waiting.coming_back():
            lease = self.create(2, 3600)
        until('it is active', lambda: self.status(lease) == 'ACTIVE')
        until('its end is near', lambda: self.ends_soon(lease))
        until('it has ended', lambda: self.status(lease) == 'TERMINATED')
        self.assertEqual(4, self.waiting())
        self.door.open()
        until('all is sent', lambda: self.waiting() == 0)
        notified = [sent['event_type'] for sent in services.notifications(self.topic)]
        start, end = 'lease.event.start_lease', 'lease.event.end_lease'
        self.assertEqual(['lease.create', start, 'lease.update', end], notified)

    def ends_soon(self, lease_id: str) -> bool:
        """Have a lease end in two seconds; False if the request takes longer than that."""
        end = datetime.datetime.now(datetime.UTC) + 2 * SECOND
        path, body = f'/v1/leases/{lease_id}', {'end_date': end.isoformat()}
        return http.send(self.app, 'PUT', path, body, version='1.1').status_code == 200

    def waiting(self) -> int:
        return fetch(self.parts.store, lambda tx: tx.outbox.waiting())
