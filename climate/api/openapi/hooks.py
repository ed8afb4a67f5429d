# SPDX-License-Identifier: Apache-2.0

"""The components of webhooks, of calendar feeds, and of reports of usage."""

from __future__ import annotations

from typing import Final

from climate.api.http.json_schema import choice
from climate.api.http.json_schema import COUNT
from climate.api.http.json_schema import Json
from climate.api.http.json_schema import listed
from climate.api.http.json_schema import or_null
from climate.api.http.json_schema import record
from climate.api.http.json_schema import ref
from climate.api.http.json_schema import TEXT
from climate.api.http.microversions import Microversion
from climate.api.views import feeds
from climate.api.views import fields
from climate.api.views import webhooks
from climate.domain.usage import UsageKey

_TIME: Final = ref('Time')


def components(version: Microversion) -> dict[str, Json]:
    """Return the components, by name."""
    return {**_webhooks(version), **_feeds(version), **_usage()}


def _webhooks(version: Microversion) -> dict[str, Json]:
    webhook = fields.properties(webhooks.WEBHOOK, version)
    secret: Json = {**TEXT, 'description': 'Only right after it was created.'}
    return {
        'Webhook': record(webhook),
        'NewWebhook': record({**webhook, 'secret': secret}),
        'ChangedWebhook': record({**webhook, 'secret': secret}, optional=('secret',)),
        'Delivery': record(fields.properties(webhooks.DELIVERY, version)),
    }


def _feeds(version: Microversion) -> dict[str, Json]:
    feed = fields.properties(feeds.FEED, version)
    link: Json = {**TEXT, 'description': 'The secret link, which only this response has.'}
    return {'Feed': record(feed), 'NewFeed': record({**feed, 'url': link})}


def _usage() -> dict[str, Json]:
    seconds: Json = {**COUNT, 'description': 'Units of the class, multiplied by seconds.'}
    row: Json = {
        'project_id': TEXT,
        'resource_type': TEXT,
        'resource_class': or_null(TEXT),
        'leases': COUNT,
        **dict.fromkeys(('booked', 'used', 'unused', 'ahead', 'refused'), seconds),
        'refusals': COUNT,
    }
    report: Json = {
        'start': _TIME,
        'end': _TIME,
        'by': choice(UsageKey),
        'rows': listed(record(row, optional=('project_id', 'resource_type'))),
    }
    return {'Usage': record(report)}
