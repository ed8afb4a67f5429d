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

"""Webhooks and their deliveries as JSON."""

from __future__ import annotations

from typing import Any

from climate.api import dates
from climate.api.microversions import Microversion
from climate.api.microversions import V1_6
from climate.domain.webhooks import Delivery
from climate.domain.webhooks import Webhook


def webhook(value: Webhook, version: Microversion, *, secret: bool = False) -> dict[str, Any]:
    """Return a webhook.

    :param secret: whether with its secret: only right after that was created
    """
    shown = {
        'id': value.id,
        'name': value.name,
        'project_id': value.project_id,
        'user_id': value.user_id,
        'url': value.url,
        'event_types': list(value.event_types),
        'all_projects': value.all_projects,
        'enabled': value.enabled,
        'previous_secret_until': dates.write(value.previous_until, version),
        'created_at': dates.write(value.created_at, version),
        'updated_at': dates.write(value.updated_at, version),
    }
    if version >= V1_6:
        shown['stopped_reason'] = value.stopped_reason
    return {**shown, 'secret': value.secrets[0]} if secret else shown


def delivery(value: Delivery, version: Microversion) -> dict[str, Any]:
    """Return a delivery, without the data of the event."""
    waits = value.finished_at is None
    return {
        'id': value.id,
        'event_id': value.message_id,
        'event_type': value.event_type,
        'lease_id': value.lease_id,
        'state': value.state,
        'attempts': value.attempts,
        'status_code': value.status,
        'error': value.error,
        'next_attempt_at': dates.write(value.due, version) if waits else None,
        'created_at': dates.write(value.created_at, version),
        'finished_at': dates.write(value.finished_at, version),
    }
