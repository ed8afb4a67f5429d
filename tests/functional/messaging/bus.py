# SPDX-License-Identifier: Apache-2.0

"""What the tests on the message bus have in common."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable

import fixtures
from oslo_config import cfg

from climate import conf as options
from climate import context
from climate import exceptions
from climate.domain.origins import RequestOrigin
from climate.domain.resources import ResourceDraft
from climate.messaging import rpc
from climate.messaging import transport
from climate.plugins.host import errors
from tests import base
from tests import services
from tests.functional.messaging import proxy

SOON = 90.0


class Manager:
    """A manager that remembers what it was asked, and refuses some of it."""

    def __init__(self) -> None:
        self.woken: list[str] = []
        self.drafts: list[ResourceDraft] = []
        self.origins: list[RequestOrigin] = []
        self.woken_by: list[RequestOrigin] = []
        self.woke = threading.Event()

    def wake(self, reason: str) -> None:
        self.woken.append(reason)
        work = context.work()
        self.woken_by += [work.known_origin] if work is not None else []
        self.woke.set()

    def register_resource(self, draft: ResourceDraft) -> int:
        self.drafts.append(draft)
        work = context.work()
        self.origins += [work.known_origin] if work is not None else []
        if draft.name == 'taken':
            raise errors.HostExists(host=draft.name)
        if draft.name == 'short':
            raise exceptions.NotEnoughResources('hosts', matched=1, free=0)
        if draft.name == 'broken':
            raise ConnectionRefusedError('a password')
        return len(draft.capabilities)

    def refresh_resource(self, resource_id: int) -> None:
        raise errors.HostInUse(host=str(resource_id))

    def rename_resource(self, resource_id: int, name: str) -> None:
        raise errors.HostExists(host=name)

    def delete_resource(self, resource_id: int) -> None:
        raise errors.HostInUse(host=str(resource_id))


class BusCase(base.TestCase):
    """A test with a bus: in the process, or a real one where a subclass says so."""

    url = 'fake://'
    exchange = 'openstack'

    def setUp(self) -> None:
        super().setUp()
        # The library reports each attempt to reach the broker.
        self.log = self.useFixture(fixtures.FakeLogger())
        self.rpc_topic = f'climate-test-{uuid.uuid4().hex}'
        self.topic = f'notifications-{uuid.uuid4().hex}'

    def conf(self, **changes: object) -> cfg.ConfigOpts:
        conf = cfg.ConfigOpts()
        conf([], project='climate', default_config_files=[])
        options.register_opts(conf)
        transport.set_defaults(conf)
        conf.set_override('control_exchange', self.exchange)
        values = {'topics': [self.topic], **changes}
        for name, value in values.items():
            conf.set_override(name, value, group='oslo_messaging_notifications')
        return conf

    def manager(self, name: str, url: str | None = None) -> tuple[Manager, rpc.ManagerServer]:
        manager = Manager()
        server = rpc.ManagerServer(
            transport.rpc_transport(self.conf(), url or self.url),
            manager,
            topic=self.rpc_topic,
            server=name,
        )
        self.addCleanup(server.stop)
        server.start()
        return manager, server

    def client(self, url: str | None = None, timeout: float = SOON) -> rpc.ManagerClient:
        client = rpc.ManagerClient(
            transport.rpc_transport(self.conf(), url or self.url),
            topic=self.rpc_topic,
            timeout=timeout,
        )
        self.addCleanup(client.close)
        return client

    def eventually(self, condition: Callable[[], bool]) -> None:
        """Wait until *condition* holds; fail if it does not soon."""
        pause = threading.Event()
        deadline = time.monotonic() + SOON
        while not condition():
            self.assertLess(time.monotonic(), deadline, 'it did not come true')
            pause.wait(0.02)


class RabbitCase(BusCase):
    """A test with a real RabbitMQ."""

    def setUp(self) -> None:
        super().setUp()
        self.broker = self.useFixture(services.Broker())
        self.url = self.broker.url
        self.exchange = self.broker.exchange
        self.topic = self.broker.topic('notifications')
        self.rpc_topic = self.broker.topic('manager')
        for name in ('one', 'two'):
            # Each manager has a queue of its own beside the common one.
            self.broker.topic(f'manager.{name}')

    def door(self) -> tuple[proxy.Proxy, str]:
        """Return a closed door in front of the broker, and the URL through it."""
        address = services.address(services.RABBITMQ)
        door = proxy.Proxy(address.host or '127.0.0.1', address.port or 5672)
        door.setUp()
        # It stays open, without its cleanup: threads that wait for the broker find it, and end.
        # Behind a closed one they would write to the logs of later tests.
        self.addCleanup(door.open)
        url = address.set(host='127.0.0.1', port=door.port)
        return door, url.render_as_string(hide_password=False)
