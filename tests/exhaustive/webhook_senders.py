# SPDX-License-Identifier: Apache-2.0

"""A process that sends the events of webhooks until none waits.

``python -m tests.exhaustive.webhook_senders URL_OF_THE_DATABASE CLAIMS``, where CLAIMS is
``claimed``, or ``unclaimed`` for a sender that ignores the claims of others.
"""

from __future__ import annotations

import ipaddress
import os
import sys
import time
import uuid
from typing import Any
from unittest import mock

import sqlalchemy as sa
from oslo_config import cfg

from climate.clock import SystemClock
from climate.db.messages.deliveries import Deliveries
from climate.db.schema.tables import WEBHOOK_DELIVERIES
from climate.db.transactions.store import register_opts
from climate.db.transactions.store import Store
from climate.domain.webhooks import Delivery
from climate.domain.webhooks import DeliveryState
from climate.manager.senders.webhooks import WebhookSender
from climate.manager.senders.webhooks import WebhookSenderSettings
from climate.testing import connection
from climate.webhooks.posts import Poster
from climate.webhooks.posts import PosterSettings
from climate.webhooks.sending import EventSender

SETTINGS = PosterSettings(
    allow_http=True, allowed=(ipaddress.ip_network('127.0.0.0/8'),), timeout=5.0
)
_claim = Deliveries.claim


def opened(url: str) -> Store:
    """Return a database."""
    conf = cfg.ConfigOpts()
    register_opts(conf)
    conf([])
    connection.use(conf, url)
    return Store(conf, SystemClock())


def waiting(store: Store) -> int:
    """Return the number of deliveries that are not accepted yet."""
    rows = WEBHOOK_DELIVERIES
    with store.reading() as tx:
        query = sa.select(sa.func.count()).where(rows.c.state == DeliveryState.WAITING)
        return int(tx.session.scalar(query) or 0)


def claim_and_forget(deliveries: Deliveries, *arguments: Any) -> list[Delivery]:
    """Claim deliveries, and forget the claims at once."""
    found = _claim(deliveries, *arguments)
    rows = WEBHOOK_DELIVERIES
    mine = rows.c.seq.in_([one.seq for one in found])
    deliveries._session.execute(sa.update(rows).where(mine).values(claim_until=None))
    return found


def main() -> None:
    """Send, and look for more until none waits."""
    store = opened(sys.argv[1])
    if sys.argv[2] == 'unclaimed':
        mock.patch.object(Deliveries, 'claim', claim_and_forget).start()
    events = EventSender(Poster(SETTINGS), SystemClock(), '/reservation')
    owner = f'{os.getpid()}:{uuid.uuid4().hex[:16]}'
    settings = WebhookSenderSettings(timeout=5.0, first_pause=0.1)
    sender = WebhookSender(store, SystemClock(), events, owner, settings, max_sleep=1.0)
    sys.stdout.write('ready\n')
    sys.stdout.flush()
    sys.stdin.readline()
    while waiting(store):
        if not sender.send_once():
            time.sleep(0.01)
    sender.stop(1.0)
    store.close()


if __name__ == '__main__':
    main()
