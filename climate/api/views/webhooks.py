# SPDX-License-Identifier: Apache-2.0

"""The fields of webhooks and their deliveries, in order."""

from __future__ import annotations

from typing import Any
from typing import Final

from climate.api.http.json_schema import BOOLEAN
from climate.api.http.json_schema import choice
from climate.api.http.json_schema import COUNT
from climate.api.http.json_schema import listed
from climate.api.http.json_schema import or_null
from climate.api.http.json_schema import ref
from climate.api.http.json_schema import TEXT
from climate.api.http.json_schema import UUID
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_6
from climate.api.views import fields
from climate.api.views.fields import AnswerField
from climate.api.views.fields import PLAIN
from climate.domain.webhooks import Delivery
from climate.domain.webhooks import DeliveryState
from climate.domain.webhooks import Webhook

_TIME: Final = ref('Time')
_TIME_OR_NULL: Final = or_null(_TIME)
_STATE: Final = choice(DeliveryState)

WEBHOOK: Final = (
    AnswerField(name='id', write=PLAIN, schema=UUID),
    AnswerField(name='name', write=PLAIN, schema=TEXT),
    AnswerField(name='project_id', write=PLAIN, schema=TEXT),
    AnswerField(name='user_id', write=PLAIN, schema=TEXT),
    AnswerField(name='url', write=PLAIN, schema=TEXT),
    AnswerField(name='event_types', write='array', schema=listed(TEXT)),
    AnswerField(name='all_projects', write=PLAIN, schema=BOOLEAN),
    AnswerField(name='enabled', write=PLAIN, schema=BOOLEAN),
    AnswerField(
        name='previous_secret_until', of='previous_until', write='date', schema=_TIME_OR_NULL
    ),
    AnswerField(name='created_at', write='date', schema=_TIME_OR_NULL),
    AnswerField(name='updated_at', write='date', schema=_TIME_OR_NULL),
    AnswerField(name='stopped_reason', since=V1_6, write=PLAIN, schema=or_null(TEXT)),
)
"""The fields of a webhook; the answer that has its secret has ``secret`` too."""

DELIVERY: Final = (
    AnswerField(name='id', write=PLAIN, schema=UUID),
    AnswerField(name='event_id', of='message_id', write=PLAIN, schema=TEXT),
    AnswerField(name='event_type', write=PLAIN, schema=TEXT),
    AnswerField(name='lease_id', write=PLAIN, schema=or_null(TEXT)),
    AnswerField(name='state', write=PLAIN, schema=_STATE),
    AnswerField(name='attempts', write=PLAIN, schema=COUNT),
    AnswerField(name='status_code', of='status', write=PLAIN, schema=or_null(COUNT)),
    AnswerField(name='error', write=PLAIN, schema=or_null(TEXT)),
    AnswerField(name='next_attempt_at', write='date', schema=_TIME_OR_NULL),
    AnswerField(name='created_at', write='date', schema=_TIME),
    AnswerField(name='finished_at', write='date', schema=_TIME_OR_NULL),
)
"""The fields of a delivery; the data of the event is not shown."""


def webhook(value: Webhook, version: Microversion, *, secret: bool = False) -> dict[str, Any]:
    """Return a webhook.

    :param secret: whether with its secret: only right after that was created
    """
    shown = fields.shown(WEBHOOK, version, value)
    return {**shown, 'secret': value.secrets[0]} if secret else shown


def delivery(value: Delivery, version: Microversion) -> dict[str, Any]:
    """Return a delivery."""
    return fields.shown(DELIVERY, version, value)
