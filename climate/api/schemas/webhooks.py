# SPDX-License-Identifier: Apache-2.0

"""Bodies and query parameters of webhooks."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any
from typing import Final

from climate import exceptions
from climate.api.http import bodies
from climate.api.http import dates
from climate.api.http import queries
from climate.api.http.json_schema import BOOLEAN
from climate.api.http.json_schema import form
from climate.api.http.validation import Validator
from climate.domain.webhooks import DeliveryState
from climate.domain.webhooks import WebhookChange
from climate.domain.webhooks import WebhookDraft

PAGE: Final = frozenset({'limit', 'marker'})
"""Query parameters of lists of webhooks and feeds."""
DELIVERIES: Final = PAGE | {'state'}

NAME: dict[str, Any] = {'type': 'string', 'maxLength': 255}
URL: dict[str, Any] = {'type': 'string', 'minLength': 1, 'maxLength': 2048}
EVENT_TYPES: dict[str, Any] = {
    'type': 'array',
    'minItems': 1,
    'maxItems': 50,
    'items': {'type': 'string', 'minLength': 1, 'maxLength': 64},
}
_DURATION: dict[str, Any] = {'type': ['integer', 'string'], 'minimum': 0, 'maxLength': 64}
_ID: dict[str, Any] = {'type': 'string', 'minLength': 1, 'maxLength': 36}

CREATE = form(
    'url', name=NAME, url=URL, event_types=EVENT_TYPES, all_projects=BOOLEAN, enabled=BOOLEAN
)
UPDATE = form(
    name=NAME,
    url=URL,
    event_types=EVENT_TYPES,
    enabled=BOOLEAN,
    rotate_secret=BOOLEAN,
    keep_previous_secret_for=_DURATION,
)
REDELIVER = form(
    delivery_ids={'type': 'array', 'minItems': 1, 'maxItems': 1000, 'items': _ID}, all=BOOLEAN
)

_CREATE = Validator(CREATE)
_UPDATE = Validator(UPDATE)
_REDELIVER = Validator(REDELIVER)
_A_DAY: Final = 86400


def read_new(body: dict[str, Any], webhook_id: str | None = None) -> WebhookDraft:
    """Return the draft of a new webhook.

    :param webhook_id: None for a generated one
    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    _CREATE.check(body)
    return WebhookDraft(
        id=webhook_id,
        name=bodies.name('name', body.get('name', '')),
        url=body['url'],
        event_types=tuple(body.get('event_types', ('*',))),
        all_projects=body.get('all_projects', False),
        enabled=body.get('enabled', True),
    )


def read_change(body: dict[str, Any]) -> WebhookChange:
    """Return the changes of a webhook.

    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    _UPDATE.check(body)
    rotates = body.get('rotate_secret', False)
    if 'keep_previous_secret_for' in body and not rotates:
        raise exceptions.MalformedParameter.of('keep_previous_secret_for', 'it needs rotate_secret')
    types = body.get('event_types')
    return WebhookChange(
        name=bodies.name('name', body['name']) if 'name' in body else None,
        url=body.get('url'),
        event_types=None if types is None else tuple(types),
        enabled=body.get('enabled'),
        rotates=rotates,
        overlap=_overlap(body.get('keep_previous_secret_for', _A_DAY)),
    )


def read_redelivery(body: dict[str, Any]) -> list[str] | None:
    """Return the ids of the deliveries to send again; None for all.

    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    _REDELIVER.check(body)
    if ('delivery_ids' in body) == bool(body.get('all')):
        raise exceptions.MalformedParameter.of('delivery_ids', 'either it or all is required')
    ids: list[str] | None = body.get('delivery_ids')
    return ids


def read_state(parameters: Mapping[str, Any]) -> DeliveryState | None:
    """Return the state of the deliveries to list; None for all.

    :raises climate.exceptions.MalformedParameter: if there is no such state
    """
    text = queries.one(parameters, 'state')
    try:
        return None if text is None else DeliveryState(text)
    except ValueError:
        raise exceptions.MalformedParameter.of(
            'state', f'one of {", ".join(DeliveryState)} is required'
        ) from None


def _overlap(value: int | str) -> datetime.timedelta:
    if value == 0:
        return datetime.timedelta(0)
    return dates.parse_duration('keep_previous_secret_for', value)
