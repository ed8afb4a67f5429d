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

import sqlalchemy as sa
from oslo_config import cfg

from climate.clock import SystemClock
from climate.db.store import register_opts
from climate.db.store import Store
from climate.db.tables import WEBHOOK_DELIVERIES
from climate.domain.webhooks import DeliveryState
from climate.manager.webhooks import WebhookSender
from climate.manager.webhooks import WebhookSenderSettings
from climate.webhooks.posts import Poster
from climate.webhooks.posts import PosterSettings
from climate.webhooks.sending import EventSender

SETTINGS = PosterSettings(
    allow_http=True, allowed=(ipaddress.ip_network('127.0.0.0/8'),), timeout=5.0
)


def opened(url: str) -> Store:
    """Return a database."""
    conf = cfg.ConfigOpts()
    register_opts(conf)
    conf([])
    conf.set_override('connection', url, group='database')
    return Store(conf, SystemClock())


def waiting(store: Store) -> int:
    """Return the number of deliveries that are not accepted yet."""
    rows = WEBHOOK_DELIVERIES
    with store.reading() as tx:
        query = sa.select(sa.func.count()).where(rows.c.state == DeliveryState.WAITING)
        return int(tx.session.scalar(query) or 0)


class Reckless(WebhookSender):
    """A sender that forgets claims as soon as it has made them."""

    def _claim(self, tx: Any, until: Any, free: int, busy: Any) -> Any:
        found = super()._claim(tx, until, free, busy)
        rows = WEBHOOK_DELIVERIES
        mine = rows.c.seq.in_([one.seq for one in found[0]])
        tx.session.execute(sa.update(rows).where(mine).values(claim_until=None))
        return found


def main() -> None:
    """Send, and look for more until none waits."""
    store = opened(sys.argv[1])
    kind = WebhookSender if sys.argv[2] == 'claimed' else Reckless
    events = EventSender(Poster(SETTINGS), SystemClock(), '/reservation')
    owner = f'{os.getpid()}:{uuid.uuid4().hex[:16]}'
    settings = WebhookSenderSettings(timeout=5.0, first_pause=0.1)
    sender = kind(store, SystemClock(), events, owner, settings, max_sleep=1.0)
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
