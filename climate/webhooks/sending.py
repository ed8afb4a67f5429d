# SPDX-License-Identifier: Apache-2.0

"""Sends one event to one webhook."""

from __future__ import annotations

from climate.clock import Clock
from climate.domain.webhooks import Delivery
from climate.domain.webhooks import Webhook
from climate.webhooks import cloud_events
from climate.webhooks import signatures
from climate.webhooks.posts import NotAccepted
from climate.webhooks.posts import Poster

_AGENT = 'openstack-climate'


class EventSender:
    """Signs events and sends them.

    :param source: the URI of this service
    """

    def __init__(self, poster: Poster, clock: Clock, source: str) -> None:
        self._poster = poster
        self._clock = clock
        self._source = source

    def send(self, webhook: Webhook, delivery: Delivery, deadline: float | None = None) -> int:
        """Send an event; return the status of the response.

        :param deadline: by the monotonic clock, after which it is not begun; None for none
        :raises climate.webhooks.posts.NotAccepted: if the receiver did not accept it
        """
        if not webhook.url or not webhook.secrets:
            raise NotAccepted('no key of [database] encryption_keys decrypts the webhook')
        body = cloud_events.body(delivery, self._source)
        timestamp = int(self._clock.now().timestamp())
        headers = {
            'Content-Type': cloud_events.CONTENT_TYPE,
            'User-Agent': _AGENT,
            **signatures.headers(delivery.message_id, timestamp, body, webhook.secrets),
        }
        return self._poster.post(webhook.url, headers, body, deadline)
