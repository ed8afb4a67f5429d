# SPDX-License-Identifier: Apache-2.0

"""Publishes messages that no transaction has written, without delaying requests.

Messages that the publisher does not accept, or that arrive while the queue is full, are
written to the log, so that none is lost without a trace.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import threading

from climate.messaging.publisher import BrokerUnavailable
from climate.messaging.publisher import OutboxMessage
from climate.messaging.publisher import Publisher

LOG = logging.getLogger(__name__)


class BackgroundPublisher:
    """A queue of messages, and a thread that publishes them in order.

    The thread blocks on a queue of limited length. An executor would accept any number of
    messages, and a thread that is woken would need a queue in addition. The first message
    starts the thread, in the process that sends the message, because web servers fork
    after they have created the application.

    :param most: the maximum number of queued messages
    """

    def __init__(self, publisher: Publisher, most: int = 1000) -> None:
        self._publisher = publisher
        self._most = most
        self._lock = threading.Lock()
        self._process = 0
        self._waiting: queue.Queue[OutboxMessage] = queue.Queue(most)

    def post(self, message: OutboxMessage) -> None:
        """Queue a message; does not block."""
        self._run()
        try:
            self._waiting.put_nowait(message)
        except queue.Full:
            _log(message, 'the queue is full')

    def flush(self) -> None:
        """Wait until every queued message is published or logged."""
        self._waiting.join()

    def _run(self) -> None:
        with self._lock:
            if self._process == os.getpid():
                return
            self._process = os.getpid()
            self._waiting = queue.Queue(self._most)
            threading.Thread(
                target=self._publish, args=(self._waiting,), name='audit', daemon=True
            ).start()

    def _publish(self, waiting: queue.Queue[OutboxMessage]) -> None:
        while True:
            message = waiting.get()
            try:
                self._publisher.publish([message])
            except BrokerUnavailable as error:
                _log(message, error.message)
            except Exception:
                LOG.exception('An audit message could not be published')
                _log(message, 'unexpected error')
            finally:
                waiting.task_done()


def _log(message: OutboxMessage, why: str) -> None:
    text = json.dumps(dict(message.payload))
    LOG.error('Not published (%s): %s %s', why, message.event_type, text)
