# SPDX-License-Identifier: Apache-2.0

"""Publishes notifications, and raises if the broker does not confirm one.

The Notifier of oslo.messaging logs and drops a message that it cannot send. The
notifications of Climate stay in the outbox until the broker has them, so a failure has to
raise here. The format of the messages is that of the Notifier.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final
from typing import Protocol

import oslo_messaging
from oslo_config import cfg
from oslo_messaging.notify import messaging as stock
from stevedore import driver as stevedore_driver

from climate import exceptions
from climate.messaging import transport as transports

_NAMESPACE: Final = 'oslo.messaging.notify.drivers'


class BrokerUnavailable(exceptions.ServiceUnavailable):
    """The broker did not accept a message; a retry may succeed.

    :ivar published: the number of messages, from the beginning of the sequence, that were
        accepted; the others have to be published again
    """

    template = 'The message bus is temporarily unavailable'

    def __init__(self, message: str | None = None, *, published: int = 0) -> None:
        super().__init__(message)
        self.published = published


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class OutboxMessage:
    """A notification to send.

    :ivar id: the same for each attempt, so that receivers recognize duplicates
    :ivar priority: ``INFO`` or ``ERROR``, as Notifier writes them
    :ivar context: the ids of the request that it goes back to
    :ivar created_at: when the event that it reports happened (aware)
    """

    id: str
    event_type: str
    payload: Mapping[str, Any]
    created_at: datetime.datetime
    priority: str = 'INFO'
    context: Mapping[str, str] = dataclasses.field(default_factory=dict)


class Publisher(Protocol):
    """Delivers notifications."""

    def publish(self, messages: Sequence[OutboxMessage]) -> None:
        """Publish *messages* in this order.

        :raises BrokerUnavailable: if one was not accepted; those after it were not tried
        """


def envelope(message: OutboxMessage, publisher_id: str) -> dict[str, Any]:
    """Return the message in the format of Notifier, with its id in the outbox."""
    naive = message.created_at.astimezone(datetime.UTC).replace(tzinfo=None)
    return {
        'message_id': message.id,
        'publisher_id': publisher_id,
        'event_type': message.event_type,
        'priority': message.priority,
        'payload': dict(message.payload),
        'timestamp': str(naive),
    }


class _ConfirmedDriver(stock.MessagingDriver):
    """The stock driver, except that it raises if a message is not accepted.

    With RabbitMQ, the connections of the library are in confirm mode, so a send returns
    only after the broker has accepted the message.
    """

    def notify(
        self, ctxt: Mapping[str, Any], message: Mapping[str, Any], priority: str, retry: int
    ) -> None:
        for topic in self.topics:
            target = oslo_messaging.Target(topic=f'{topic}.{priority.lower()}')
            # The library marks what it sends, so each topic gets its own copy.
            self.transport._send_notification(
                target, dict(ctxt), dict(message), version=self.version, retry=retry
            )


_CONFIRMED: Final = {'messaging': 1.0, 'messagingv2': 2.0}


class BusPublisher:
    """Publishes on the message bus, with the configured drivers.

    :param transport: a notification transport for the exclusive use of this publisher
    :param topics: replace ``[oslo_messaging_notifications] topics``
    :raises climate.exceptions.ConfigurationError: if a driver is unknown
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        transport: oslo_messaging.NotificationTransport,
        topics: Sequence[str] = (),
    ) -> None:
        options = conf.oslo_messaging_notifications
        topics = list(topics or options.topics)
        self._publisher_id = conf.notifications.publisher_id
        # The library would retry indefinitely; the outbox retries instead.
        self._retry = options.retry if options.retry >= 0 else transports.RETRIES
        self._transport = transport
        self._drivers = [
            _driver(name, conf, topics, transport) for name in dict.fromkeys(options.driver)
        ]

    def publish(self, messages: Sequence[OutboxMessage]) -> None:
        """Send *messages* in this order, each to every driver and topic.

        :raises BrokerUnavailable: if one was not accepted
        """
        for number, message in enumerate(messages):
            content = envelope(message, self._publisher_id)
            try:
                for driver in self._drivers:
                    driver.notify(message.context, content, message.priority, self._retry)
            except transports.DELIVERY_ERRORS as error:
                raise BrokerUnavailable(
                    f'The message bus did not accept a notification: {type(error).__name__}',
                    published=number,
                ) from None

    def close(self) -> None:
        """Close the transport, within 2 s."""
        transports.close(self._transport)


def _driver(
    name: str,
    conf: cfg.ConfigOpts,
    topics: list[str],
    transport: oslo_messaging.NotificationTransport,
) -> Any:
    if name in _CONFIRMED:
        return _ConfirmedDriver(conf, topics, transport, version=_CONFIRMED[name])
    try:
        return stevedore_driver.DriverManager(
            _NAMESPACE,
            name,
            invoke_on_load=True,
            invoke_args=(conf,),
            invoke_kwds={'topics': topics, 'transport': transport},
        ).driver
    except RuntimeError:
        raise exceptions.ConfigurationError(
            f'[oslo_messaging_notifications] driver: there is no driver {name!r}'
        ) from None


def from_conf(
    conf: cfg.ConfigOpts, url: str | None = None, topics: Sequence[str] = ()
) -> BusPublisher:
    """Return a publisher with its own transport, which connects at the first message.

    :raises climate.exceptions.ConfigurationError: if the configuration is unusable
    """
    return BusPublisher(conf, transports.notification_transport(conf, url), topics)
