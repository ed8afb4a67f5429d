# SPDX-License-Identifier: Apache-2.0

"""Consumes notifications from a permanent queue, and acknowledges each after handling.

The broker keeps a message until the handler has returned, and delivers it again if the
process dies first. So no message is lost while the process or the broker is down. A
message can arrive twice; its ``message_id`` identifies duplicates.

A process that uses notifications only as wake-ups, and then queries for work, needs no
such queue: see :mod:`climate.messaging.listener`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from collections.abc import Sequence

import oslo_messaging
from oslo_config import cfg

from climate.messaging import transport as transports
from climate.messaging.listener import Envelope
from climate.messaging.listener import NotificationPool

LOG = logging.getLogger(__name__)

_PAUSE = 1.0


class NotTaken(Exception):
    """The handler cannot process the message now; it must be delivered again."""


class Subscriber:
    """Passes the notifications of a queue to a handler, one after the other.

    :param queue: the name of the queue; subscribers with the same name share its messages
    :param handle: called in a thread of the subscriber; raises :class:`NotTaken` if the
        message must be delivered again. Any other exception is logged, and the message
        is dropped
    :param url: replaces the transport URL of the configuration
    :param topics: replace ``[oslo_messaging_notifications] topics``
    :raises climate.exceptions.ConfigurationError: if the URL is unusable
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        queue: str,
        handle: Callable[[Envelope], None],
        *,
        url: str | None = None,
        topics: Sequence[str] = (),
    ) -> None:
        self._handle = handle
        self._stopping = threading.Event()
        topics = tuple(topics) or tuple(conf.oslo_messaging_notifications.topics)
        transport = transports.notification_transport(conf, url)
        self._pool = NotificationPool(transport, topics, queue, self._hear, allow_requeue=True)

    def start(self) -> None:
        """Start listening; does not block, and waits for an unavailable broker."""
        threading.Thread(target=self._run, name='climate-subscriber', daemon=True).start()

    def stop(self) -> None:
        """Stop, within 2 s; messages that were not handled stay in the queue."""
        self._stopping.set()
        self._pool.stop('the subscriber to stop')

    def _run(self) -> None:
        self._pool.open()
        LOG.info('Listening to notifications')

    def _hear(self, envelope: Envelope) -> object:
        try:
            self._handle(envelope)
        except NotTaken as error:
            LOG.warning('Notification %s is put back: %s', envelope['message_id'], error)
            # Without a pause, the message would circulate as fast as the broker can.
            self._stopping.wait(_PAUSE)
            return oslo_messaging.NotificationResult.REQUEUE
        except Exception:
            LOG.exception('Notification %s could not be handled', envelope['message_id'])
        return oslo_messaging.NotificationResult.HANDLED
