# SPDX-License-Identifier: Apache-2.0

"""Listens to notifications on the message bus; an example for subscribers.

Each queue that is bound to a topic gets a copy of every message, and the readers of a
queue share its messages. A listener on the default queue would take messages away from
the service that reads it, so each listener has its own queue. On RabbitMQ the queue is
exclusive: the broker deletes it when the listener ends or dies, whereas an abandoned
queue would fill up indefinitely. On other brokers, and for subscribers that want to
collect messages while no process listens, the queue is a pool of oslo.messaging.
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
    """Receives notifications, in the order in which the bus delivers them."""

    def start(self) -> None:
        """Start listening; does not block, and retries until the broker is available."""

    def get(self, seconds: float) -> Envelope | None:
        """Return the next notification, or None if none came in time."""

    def stop(self) -> None:
        """Stop listening, within 2 s."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Subscription:
    """The notifications that a listener receives.

    :ivar exchange: the exchange to which another service sends its notifications; the
        listener waits until that service has created it. None for the exchange of the
        configuration, which the listener creates if it is missing
    :ivar event_types: the types that are kept; None for all
    :ivar queue: the prefix of the names of queues
    """

    exchange: str | None = None
    event_types: frozenset[str] | None = None
    queue: str = 'climate-watch'

    def wants(self, envelope: Envelope) -> bool:
        """Whether to keep a notification."""
        return self.event_types is None or envelope['event_type'] in self.event_types


def listen(
    conf: cfg.ConfigOpts,
    *,
    url: str | None = None,
    topics: Sequence[str] = (),
    pool: str | None = None,
    subscription: Subscription = Subscription(),
    on_broker: Callable[[bool], None] = lambda _there: None,
) -> Listener:
    """Return a listener, not yet started.

    :param url: replaces the transport URL of the configuration
    :param topics: replace ``[oslo_messaging_notifications] topics``
    :param pool: the name of a permanent queue, shared by all its readers
    :param subscription: the notifications to receive
    :param on_broker: called from a thread of the listener when the broker becomes
        available (True) or unavailable (False)
    :raises climate.exceptions.ConfigurationError: if the URL is unusable
    """
    transport = transports.notification_transport(conf, url)
    parsed = oslo_messaging.TransportURL.parse(
        conf, url or conf.oslo_messaging_notifications.transport_url
    )
    wanted = tuple(topics) or tuple(conf.oslo_messaging_notifications.topics)
    if broker.is_rabbit(parsed) and pool is None:
        return RabbitListener(transport.conf, parsed, wanted, subscription, on_broker)
    pool = pool or f'{subscription.queue}.{uuid.uuid4().hex}'
    return PoolListener(transport, wanted, pool, subscription, on_broker)


def content(body: Any) -> Envelope | None:
    """Return the notification in the body of a message; None if there is none.

    It reads both formats: 2.0, where the notification is JSON inside an envelope, and
    1.0, where it is the body itself.
    """
    try:
        value = json.loads(body) if isinstance(body, str | bytes) else body
        if isinstance(value, Mapping) and 'oslo.message' in value:
            value = json.loads(value['oslo.message'])
    except ValueError:
        return None
    if not isinstance(value, Mapping) or 'event_type' not in value:
        return None
    # Keys with a leading underscore are internal to the library.
    return {key: item for key, item in value.items() if not key.startswith('_')}


class _Queued:
    """Keeps the notifications that a subscription wants until they are fetched."""

    def __init__(self, subscription: Subscription) -> None:
        self._subscription = subscription
        self._heard: queue.Queue[Envelope] = queue.Queue()

    def get(self, seconds: float) -> Envelope | None:
        """Return the next notification, or None if none came in time."""
        try:
            return self._heard.get(timeout=seconds)
        except queue.Empty:
            return None

    def _handle(self, envelope: Envelope) -> None:
        if self._subscription.wants(envelope):
            self._heard.put(envelope)


class RabbitListener(_Queued):
    """Reads an exclusive queue of RabbitMQ."""

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        url: oslo_messaging.TransportURL,
        topics: Sequence[str],
        subscription: Subscription,
        on_broker: Callable[[bool], None],
    ) -> None:
        super().__init__(subscription)
        self._conf = conf
        self._url = url
        self._keys = [f'{topic}.{priority}' for topic in topics for priority in _PRIORITIES]
        self._on_broker = on_broker
        self._thread = RepeatingThread(
            'climate-listener', self._listen, failure='The listener failed', retry=_PAUSE
        )

    def start(self) -> None:
        """Start listening; does not block, and retries until the broker is available."""
        self._thread.start()

    def stop(self) -> None:
        """Stop listening, within 2 s."""
        self._thread.stop(2.0)

    def _listen(self) -> float:
        """Read from the brokers of the URL in turn; return the pause, in seconds."""
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
        """Read from an open connection until it breaks or the listener stops."""
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
            # Closing a broken connection would only wait for a timeout.
            connection.collect()

    def _consume(self, connection: Any) -> None:
        exchange = self._exchange(connection)
        channel = connection.channel()
        name = f'{self._subscription.queue}.{uuid.uuid4().hex}'
        channel.queue_declare(name, exclusive=True, auto_delete=True, durable=False)
        for key in self._keys:
            channel.queue_bind(name, exchange, key)

        def handle(raw: Any) -> None:
            envelope = content(channel.message_to_python(raw).payload)
            if envelope is not None:
                self._handle(envelope)

        channel.basic_consume(name, callback=handle, no_ack=True)

    def _exchange(self, connection: Any) -> str:
        """Return the exchange of notifications; create that of Climate if missing."""
        if self._subscription.exchange is not None:
            # Never created here: if its properties are not those that the service
            # expects, the service cannot start.
            return self._subscription.exchange
        options = self._conf.oslo_messaging_rabbit
        name: str = self._conf.control_exchange
        probe = connection.channel()
        try:
            # Declaring it with properties other than those of its creator fails.
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


class PoolListener(_Queued):
    """Reads a pool of oslo.messaging, on any kind of bus."""

    def __init__(
        self,
        transport: oslo_messaging.NotificationTransport,
        topics: Sequence[str],
        pool: str,
        subscription: Subscription,
        on_broker: Callable[[bool], None],
    ) -> None:
        super().__init__(subscription)
        self._on_broker = on_broker
        self._pool = NotificationPool(
            transport, topics, pool, self._handle, exchange=subscription.exchange
        )

    def start(self) -> None:
        """Start listening; does not block, and retries until the broker is available."""
        threading.Thread(target=self._run, name='climate-listener', daemon=True).start()

    def stop(self) -> None:
        """Stop listening, within 2 s."""
        self._pool.stop('the listener to stop')

    def _run(self) -> None:
        timer = threading.Timer(_CONNECT_SECONDS, self._on_broker, (False,))
        timer.daemon = True
        timer.start()
        self._pool.open()
        timer.cancel()
        self._on_broker(True)


class NotificationPool:
    """The notifications of a pool of oslo.messaging, in their order.

    :param handle: handles a notification; its result is passed to oslo.messaging
    :param options: of the listener of oslo.messaging
    """

    def __init__(
        self,
        transport: oslo_messaging.NotificationTransport,
        topics: Sequence[str],
        name: str,
        handle: Callable[[Envelope], Any],
        *,
        exchange: str | None = None,
        **options: Any,
    ) -> None:
        self._transport = transport
        targets = [oslo_messaging.Target(topic=topic, exchange=exchange) for topic in topics]
        self._server = oslo_messaging.get_notification_listener(
            transport, targets, [Endpoint(handle)], pool=name, **options
        )
        self._listening = threading.Event()

    def open(self) -> None:
        """Start listening; blocks until the broker is available."""
        # A single thread keeps the order.
        self._server.start(override_pool_size=1)
        self._listening.set()

    def stop(self, what: str) -> None:
        """Stop listening, within 2 s.

        :param what: for the log, such as "the listener to stop"
        """
        if self._listening.is_set():
            transports.within(2.0, self._end, what)

    def _end(self) -> None:
        self._server.stop()
        self._server.wait()
        self._transport.cleanup()


class Endpoint:
    """The endpoint that oslo.messaging calls for each notification of any priority.

    :param handle: handles a notification; its result is passed to oslo.messaging
    """

    def __init__(self, handle: Callable[[Envelope], Any]) -> None:
        self._handle = handle

    def _put(self, priority: str) -> Callable[..., Any]:
        def put(_ctxt: Any, publisher_id: str, event_type: str, payload: Any, metadata: Any) -> Any:
            return self._handle(
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
