# SPDX-License-Identifier: Apache-2.0

"""``climate-manage webhook``: lists webhooks, and tests one from this machine."""

from __future__ import annotations

import uuid
from typing import Any
from typing import Final

from oslo_config import cfg

from climate.clock import SystemClock
from climate.cmd.composition import say
from climate.db.transactions.store import Store
from climate.domain.requests import Reach
from climate.domain.webhooks import Delivery
from climate.domain.webhooks import DeliveryState
from climate.domain.webhooks import TEST_EVENT
from climate.domain.webhooks import Webhook
from climate.webhooks import urls
from climate.webhooks.posts import NotAccepted
from climate.webhooks.posts import Poster
from climate.webhooks.posts import PosterSettings
from climate.webhooks.sending import EventSender
from climate.webhooks.subscriptions import test_payload

_PAGE: Final = 200


def add_commands(parser: Any) -> None:
    """Add the commands to the parser of ``webhook``."""
    webhook = parser.add_subparsers(dest='what', required=True)
    webhook.add_parser('list', help='list the webhooks of all projects').set_defaults(run=_list)
    test = webhook.add_parser('test', help='send a test event from this machine now')
    test.add_argument('webhook', metavar='ID')
    test.set_defaults(run=_test)


def _list(_conf: cfg.ConfigOpts, store: Store) -> int:
    marker = None
    while True:
        with store.reading() as tx:
            webhooks = tx.webhooks.page(Reach(), marker, _PAGE)
        for webhook in webhooks:
            state = 'enabled' if webhook.enabled else 'disabled'
            if webhook.stopped_reason:
                state = f'stopped ({webhook.stopped_reason})'
            reach = 'all projects' if webhook.all_projects else f'project {webhook.project_id}'
            say(f'{webhook.id} {state} for {reach}: {_host(webhook)}')
        if len(webhooks) < _PAGE:
            return 0
        marker = webhooks[-1].id


def _test(conf: cfg.ConfigOpts, store: Store) -> int:
    with store.reading() as tx:
        webhook = tx.webhooks.get(conf.command.webhook, Reach())
    clock = SystemClock()
    poster = Poster(PosterSettings.from_conf(conf))
    now = clock.now()
    event = Delivery(
        seq=0,
        id='',
        webhook_id=webhook.id,
        message_id=str(uuid.uuid4()),
        sequence=0,
        lease_id=None,
        event_type=TEST_EVENT,
        payload=test_payload(webhook),
        state=DeliveryState.WAITING,
        attempts=0,
        due=now,
        error=None,
        status=None,
        created_at=now,
        finished_at=None,
    )
    try:
        status = EventSender(poster, clock, conf.webhooks.source).send(webhook, event)
    except NotAccepted as error:
        say(f'{webhook.id} at {_host(webhook)} did not accept the event: {error}')
        return 1
    say(f'{webhook.id} at {_host(webhook)} accepted the event with status {status}')
    return 0


def _host(webhook: Webhook) -> str:
    """Return the host alone: paths and queries of webhooks often contain secrets."""
    try:
        return urls.parse(webhook.url, allow_http=True).host
    except urls.BadUrl:
        return 'an unreadable URL'
