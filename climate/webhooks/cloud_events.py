# SPDX-License-Identifier: Apache-2.0

"""Events in the form of CloudEvents 1.0, structured as JSON."""

from __future__ import annotations

import datetime
import json
from typing import Any
from typing import Final

from climate.domain.webhooks import Delivery

CONTENT_TYPE: Final = 'application/cloudevents+json; charset=utf-8'
_DIGITS: Final = 20


def body(delivery: Delivery, source: str) -> bytes:
    """Return the body of a request: the same for each attempt.

    The attribute ``sequence`` orders the events of a source, as texts: events may arrive
    in another order.

    :param source: the URI of this service
    """
    event: dict[str, Any] = {
        'specversion': '1.0',
        'id': delivery.message_id,
        'source': source,
        'type': delivery.event_type,
        'time': _written(delivery.created_at),
        'datacontenttype': 'application/json',
        'data': dict(delivery.payload),
    }
    if delivery.lease_id is not None:
        event['subject'] = delivery.lease_id
    if delivery.sequence:
        event['sequence'] = f'{delivery.sequence:0{_DIGITS}d}'
    return json.dumps(event).encode()


def _written(instant: datetime.datetime) -> str:
    naive = instant.astimezone(datetime.UTC).replace(tzinfo=None)
    return f'{naive.isoformat(timespec="microseconds")}Z'
