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

"""The components of webhooks, of calendar feeds, and of reports of usage."""

from __future__ import annotations

from typing import Final

from climate.api.microversions import Microversion
from climate.api.microversions import V1_6
from climate.api.openapi import schemas
from climate.api.openapi.schemas import BOOLEAN
from climate.api.openapi.schemas import COUNT
from climate.api.openapi.schemas import Json
from climate.api.openapi.schemas import listed
from climate.api.openapi.schemas import or_null
from climate.api.openapi.schemas import record
from climate.api.openapi.schemas import ref
from climate.api.openapi.schemas import TEXT
from climate.domain.feeds import FeedKind
from climate.domain.usage import UsageKey
from climate.domain.webhooks import DeliveryState

_TIME: Final = ref('Time')
_TIME_OR_NULL: Final = or_null(_TIME)


def components(version: Microversion) -> dict[str, Json]:
    """Return the components, by name."""
    stops = {'stopped_reason': or_null(TEXT)} if version >= V1_6 else {}
    return {**_webhooks(stops), **_feeds(stops), **_usage()}


def _webhooks(stops: Json) -> dict[str, Json]:
    webhook: Json = {
        'id': schemas.UUID,
        'name': TEXT,
        'project_id': TEXT,
        'user_id': TEXT,
        'url': TEXT,
        'event_types': listed(TEXT),
        'all_projects': BOOLEAN,
        'enabled': BOOLEAN,
        'previous_secret_until': _TIME_OR_NULL,
        'created_at': _TIME_OR_NULL,
        'updated_at': _TIME_OR_NULL,
        **stops,
    }
    secret: Json = {**TEXT, 'description': 'Only right after it was created.'}
    delivery: Json = {
        'id': schemas.UUID,
        'event_id': TEXT,
        'event_type': TEXT,
        'lease_id': or_null(TEXT),
        'state': {**TEXT, 'enum': [one.value for one in DeliveryState]},
        'attempts': COUNT,
        'status_code': or_null(COUNT),
        'error': or_null(TEXT),
        'next_attempt_at': _TIME_OR_NULL,
        'created_at': _TIME,
        'finished_at': _TIME_OR_NULL,
    }
    return {
        'Webhook': record(webhook),
        'NewWebhook': record({**webhook, 'secret': secret}),
        'ChangedWebhook': record({**webhook, 'secret': secret}, optional=('secret',)),
        'Delivery': record(delivery),
    }


def _feeds(stops: Json) -> dict[str, Json]:
    feed: Json = {
        'id': schemas.UUID,
        'name': TEXT,
        'project_id': TEXT,
        'user_id': TEXT,
        'kind': {**TEXT, 'enum': [one.value for one in FeedKind]},
        'lease_id': or_null(schemas.UUID),
        'resource_id': or_null(schemas.RESOURCE_ID),
        'time_zone': TEXT,
        'alarms_before_start': listed(COUNT),
        'alarms_before_end': listed(COUNT),
        'created_at': _TIME,
        'expires_at': _TIME,
        **stops,
    }
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
        'by': {**TEXT, 'enum': [one.value for one in UsageKey]},
        'rows': listed(record(row, optional=('project_id', 'resource_type'))),
    }
    return {'Usage': record(report)}
