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

"""Listens to notifications on the message bus; an example for subscribers.

On the bus every queue that is bound to a topic gets a copy of each message,
and the readers of one queue share what is in it. A watcher that read the
usual queue would take messages away from the service that reads it, so it has
a queue of its own. With RabbitMQ that is an exclusive one, which the broker
deletes when the watcher goes, however it goes; a queue that stays behind
would be filled indefinitely. Elsewhere, and for those who want a queue that
collects while no process listens, it is a pool of oslo.messaging.
"""

from __future__ import annotations

import dataclasses
import json
import queue
import threading
import uuid
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final
from typing import Protocol

import oslo_messaging
from oslo_config import cfg

from climate.messaging import broker
from climate.messaging import transport as transports
from climate.threads import RepeatingThread

Envelope = dict[str, Any]

_PRIORITIES: Final = ('audit', 'debug', 'info', 'warn', 'error', 'critical', 'sample')
_CONNECT_SECONDS: Final = 5.0
_PAUSE: Final = 1.0


class Listener(Protocol):
    """Hears notifications, in the order in which the bus delivers them."""

    def start(self) -> None:
        """Begin to listen; returns at once, and keeps trying."""
        ...

    def get(self, seconds: float) -> Envelope | None:
        """Return the next notification, or None if none came in time."""
        ...

    def stop(self) -> None:
        """Listen no more; takes 2 s at most."""
        ...


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Hears:
    """What a listener is there for.

    :ivar exchange: of another service, to which its notifications go; it is
        waited for until that service has made it. None for that of the
        configuration, which is made if there is none
    :ivar event_types: all others are dropped as they come; None keeps all
    :ivar queue: what the names of queues begin with
    """

    exchange: str | None = None
    event_types: frozenset[str] | None = None
    queue: str = 'climate-watch'

    def wants(self, envelope: Envelope) -> bool:
        """Whether a notification is kept."""
        return self.event_types is None or envelope['event_type'] in self.event_types


def listen(
    conf: cfg.ConfigOpts,
    *,
    url: str | None = None,
    topics: Sequence[str] = (),
    pool: str | None = None,
    hears: Hears = Hears(),
    on_broker: Callable[[bool], None] = lambda _there: None,
) -> Listener:
    """Return a listener, not yet started.

    :param url: instead of the transport URL of the configuration
    :param topics: instead of ``[oslo_messaging_notifications] topics``
    :param pool: name of a queue that stays; readers of one name share it
    :param hears: whose notifications, and which
    :param on_broker: told when the broker is found (True) or lost (False);
        called from a thread of the listener
    :raises climate.exceptions.ConfigurationError: if the URL is unusable
    """
    transport = transports.notification_transport(conf, url)
    parsed = oslo_messaging.TransportURL.parse(
        conf, url or conf.oslo_messaging_notifications.transport_url
    )
    wanted = tuple(topics) or tuple(conf.oslo_messaging_notifications.topics)
    if broker.is_rabbit(parsed) and pool is None:
        return RabbitListener(transport.conf, parsed, wanted, hears, on_broker)
    return PoolListener(
        transport, wanted, pool or f'{hears.queue}.{uuid.uuid4().hex}', hears, on_broker
    )


def content(body: Any) -> Envelope | None:
    """Return the notification in the body of a message; None if there is none.

    Both formats are understood: 2.0, where the notification is JSON inside
    an envelope, and 1.0, where it is the body itself.
    """
    try:
        value = json.loads(body) if isinstance(body, str | bytes) else body
        if isinstance(value, Mapping) and 'oslo.message' in value:
            value = json.loads(value['oslo.message'])
    except ValueError:
        return None
    if not isinstance(value, Mapping) or 'event_type' not in value:
        return None
    # What begins with an underscore is the library's own.
    return {key: item for key, item in value.items() if not key.startswith('_')}


class RabbitListener:
    """Reads an exclusive queue of RabbitMQ."""

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        url: oslo_messaging.TransportURL,
        topics: Sequence[str],
        hears: Hears,
        on_broker: Callable[[bool], None],
    ) -> None:
        self._conf = conf
        self._url = url
        self._hears = hears
        self._keys = [f'{topic}.{priority}' for topic in topics for priority in _PRIORITIES]
        self._on_broker = on_broker
        self._heard: queue.Queue[Envelope] = queue.Queue()
        self._thread = RepeatingThread(
            'climate-listener', self._listen, failure='The listener failed', retry=_PAUSE
        )

    def start(self) -> None:
        """Begin to listen; returns at once, and keeps trying."""
        self._thread.start()

    def get(self, seconds: float) -> Envelope | None:
        """Return the next notification, or None if none came in time."""
        try:
            return self._heard.get(timeout=seconds)
        except queue.Empty:
            return None

    def stop(self) -> None:
        """Listen no more; takes 2 s at most."""
        self._thread.stop(2.0)

    def _listen(self) -> float:
        """Read from each broker of the URL in turn; return the pause, in seconds."""
        for connection in broker.connections(self._conf, self._url, _CONNECT_SECONDS):
            try:
                opened = connection.transport.establish_connection()
            except transports.DELIVERY_ERRORS:
                continue
            self._read(opened)
        if not self._thread.stopping:
            self._on_broker(False)
        return _PAUSE

    def _read(self, connection: Any) -> None:
        """Read from an open connection until it breaks or all is over."""
        try:
            self._consume(connection)
            self._on_broker(True)
            while not self._thread.stopping:
                try:
                    connection.drain_events(timeout=0.5)
                except TimeoutError:
                    connection.heartbeat_tick()
            connection.close()
        except transports.DELIVERY_ERRORS:
            # Broken; a new one is made. Closing it would only wait for a time-out.
            connection.collect()

    def _consume(self, connection: Any) -> None:
        exchange = self._exchange(connection)
        channel = connection.channel()
        name = f'{self._hears.queue}.{uuid.uuid4().hex}'
        channel.queue_declare(name, exclusive=True, auto_delete=True, durable=False)
        for key in self._keys:
            channel.queue_bind(name, exchange, key)

        def hear(raw: Any) -> None:
            envelope = content(channel.message_to_python(raw).payload)
            if envelope is not None and self._hears.wants(envelope):
                self._heard.put(envelope)

        channel.basic_consume(name, callback=hear, no_ack=True)

    def _exchange(self, connection: Any) -> str:
        """Return the exchange of notifications; make ours if there is none."""
        if self._hears.exchange is not None:
            # Not made here: with other properties than its service wants, it
            # would keep that service from coming up.
            return self._hears.exchange
        options = self._conf.oslo_messaging_rabbit
        name: str = self._conf.control_exchange
        probe = connection.channel()
        try:
            # The service that made it chose its properties; asking for others fails.
            probe.exchange_declare(name, 'topic', passive=True)
        except transports.DELIVERY_ERRORS:
            connection.channel().exchange_declare(
                name,
                'topic',
                durable=options.amqp_durable_queues or options.rabbit_quorum_queue,
                auto_delete=options.amqp_auto_delete,
            )
        else:
            probe.close()
        return name


class PoolListener:
    """Reads a pool of oslo.messaging, on any kind of bus."""

    def __init__(
        self,
        transport: oslo_messaging.NotificationTransport,
        topics: Sequence[str],
        pool: str,
        hears: Hears,
        on_broker: Callable[[bool], None],
    ) -> None:
        self._transport = transport
        self._hears = hears
        self._on_broker = on_broker
        self._heard: queue.Queue[Envelope] = queue.Queue()
        self._server = oslo_messaging.get_notification_listener(
            transport,
            [oslo_messaging.Target(topic=topic, exchange=hears.exchange) for topic in topics],
            [Endpoint(self._hear)],
            pool=pool,
        )
        self._listening = threading.Event()

    def start(self) -> None:
        """Begin to listen; returns at once, and keeps trying."""
        threading.Thread(target=self._run, name='climate-listener', daemon=True).start()

    def get(self, seconds: float) -> Envelope | None:
        """Return the next notification, or None if none came in time."""
        try:
            return self._heard.get(timeout=seconds)
        except queue.Empty:
            return None

    def stop(self) -> None:
        """Listen no more; takes 2 s at most."""

        def end() -> None:
            self._server.stop()
            self._server.wait()
            self._transport.cleanup()

        if self._listening.is_set():
            transports.within(2.0, end, 'the listener to stop')

    def _hear(self, envelope: Envelope) -> None:
        if self._hears.wants(envelope):
            self._heard.put(envelope)

    def _run(self) -> None:
        timer = threading.Timer(_CONNECT_SECONDS, self._on_broker, (False,))
        timer.daemon = True
        timer.start()
        # Waits inside for the broker. One thread, so that the order is kept.
        self._server.start(override_pool_size=1)
        timer.cancel()
        self._listening.set()
        self._on_broker(True)


class Endpoint:
    """What oslo.messaging calls for each notification, whatever its priority.

    :param hear: what it returns is what oslo.messaging is answered
    """

    def __init__(self, hear: Callable[[Envelope], Any]) -> None:
        self._hear = hear

    def _put(self, priority: str) -> Callable[..., Any]:
        def put(_ctxt: Any, publisher_id: str, event_type: str, payload: Any, metadata: Any) -> Any:
            return self._hear(
                {
                    'message_id': metadata['message_id'],
                    'publisher_id': publisher_id,
                    'event_type': event_type,
                    'priority': priority.upper(),
                    'payload': payload,
                    'timestamp': metadata['timestamp'],
                }
            )

        return put

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in _PRIORITIES:
            raise AttributeError(name)
        return self._put(name)
