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

"""Takes notifications off a queue that stays, each once it was dealt with.

The broker keeps a message until the handler has returned, and delivers it again
if the process dies first. So no message is lost while the process or the broker
is down. A message can arrive twice; its ``message_id`` identifies duplicates.

Those who only want to be woken, and look for themselves what there is to do,
need no such queue: see :mod:`climate.messaging.listener`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from collections.abc import Sequence

import oslo_messaging
from oslo_config import cfg

from climate.messaging import transport as transports
from climate.messaging.listener import Endpoint
from climate.messaging.listener import Envelope

LOG = logging.getLogger(__name__)

_PAUSE = 1.0


class NotTaken(Exception):
    """The handler cannot take the message now; it is to be given again."""


class Subscriber:
    """Gives the notifications of one queue to a handler, one after the other.

    :param queue: its name; subscribers of one name share what is in it
    :param handle: called on a thread of the subscriber; raises
        :class:`NotTaken` if the message is to be given again. Any other
        exception drops it, and is logged
    :param url: instead of the transport URL of the configuration
    :param topics: instead of ``[oslo_messaging_notifications] topics``
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
        self._listening = threading.Event()
        self._transport = transports.notification_transport(conf, url)
        wanted = tuple(topics) or tuple(conf.oslo_messaging_notifications.topics)
        self._server = oslo_messaging.get_notification_listener(
            self._transport,
            [oslo_messaging.Target(topic=topic) for topic in wanted],
            [Endpoint(self._hear)],
            pool=queue,
            allow_requeue=True,
        )

    def start(self) -> None:
        """Begin to listen; returns at once, and waits for an unavailable broker."""
        threading.Thread(target=self._run, name='climate-subscriber', daemon=True).start()

    def stop(self) -> None:
        """Take no more; takes 2 s at most. What was not taken stays in the queue."""
        self._stopping.set()

        def end() -> None:
            self._server.stop()
            self._server.wait()
            self._transport.cleanup()

        if self._listening.is_set():
            transports.within(2.0, end, 'the subscriber to stop')

    def _run(self) -> None:
        # Waits inside for the broker. One thread, so that the order is kept.
        self._server.start(override_pool_size=1)
        self._listening.set()
        LOG.info('Listening to notifications')

    def _hear(self, envelope: Envelope) -> object:
        try:
            self._handle(envelope)
        except NotTaken as error:
            LOG.warning('Notification %s is put back: %s', envelope['message_id'], error)
            # Given again at once, it would be put back at once, and so on.
            self._stopping.wait(_PAUSE)
            return oslo_messaging.NotificationResult.REQUEUE
        except Exception:
            LOG.exception('Notification %s could not be dealt with', envelope['message_id'])
        return oslo_messaging.NotificationResult.HANDLED
