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

"""Confirmed publishing of notifications.

oslo.messaging's Notifier logs a message that it could not send and forgets
it. Climate's notifications wait in the outbox until the broker has them, so
here a failure is an exception. The message itself is the Notifier's own.
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
    """The broker did not take a message; it may when tried again.

    :ivar published: how many messages of the sequence, from its beginning,
        were taken; the rest has to be published again
    """

    error_name = 'BROKER_UNAVAILABLE'
    template = 'The message bus is temporarily unavailable'

    def __init__(self, message: str | None = None, *, published: int = 0) -> None:
        super().__init__(message)
        self.published = published


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class OutboxMessage:
    """A notification that is to be sent.

    :ivar id: the same each time it is sent, so that receivers can tell
    :ivar priority: ``INFO`` or ``ERROR``, as Notifier spells them
    :ivar created_at: when the event that it reports happened (aware)
    """

    id: str
    event_type: str
    payload: Mapping[str, Any]
    created_at: datetime.datetime
    priority: str = 'INFO'


class Publisher(Protocol):
    """Delivers notifications."""

    def publish(self, messages: Sequence[OutboxMessage]) -> None:
        """Bring *messages* out, in this order.

        :raises BrokerUnavailable: if one was not taken; those after it were
            not tried
        """
        ...


def envelope(message: OutboxMessage, publisher_id: str) -> dict[str, Any]:
    """Return the message as Notifier would write it, with the outbox's id."""
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
    """The stock driver, but a message that was not taken is an exception.

    With RabbitMQ the library's connections are in confirm mode, so that the
    send returns when the broker has taken the message over and not before.
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
    """Publishes on the message bus, with the drivers the operator chose.

    :param transport: a notification transport that nothing else uses
    :param topics: other ones than the operator chose for notifications
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
        # The library would retry indefinitely; here the outbox tries again.
        self._retry = options.retry if options.retry >= 0 else transports.RETRIES
        self._transport = transport
        self._drivers = [
            _driver(name, conf, topics, transport) for name in dict.fromkeys(options.driver)
        ]

    def publish(self, messages: Sequence[OutboxMessage]) -> None:
        """Send *messages* in this order, each to every driver and topic.

        :raises BrokerUnavailable: if one was not taken
        """
        for number, message in enumerate(messages):
            content = envelope(message, self._publisher_id)
            try:
                for driver in self._drivers:
                    driver.notify({}, content, message.priority, self._retry)
            except transports.DELIVERY_ERRORS as error:
                raise BrokerUnavailable(
                    f'The message bus did not take a notification: {type(error).__name__}',
                    published=number,
                ) from None

    def close(self) -> None:
        """Close the transport; takes 2 s at most."""
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
    """Return a publisher with a transport of its own; connects when it sends.

    :raises climate.exceptions.ConfigurationError: if the configuration cannot
        be used
    """
    return BusPublisher(conf, transports.notification_transport(conf, url), topics)
