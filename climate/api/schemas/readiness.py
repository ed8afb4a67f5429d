# SPDX-License-Identifier: Apache-2.0

"""Bodies of reports on the readiness of a lease."""

from __future__ import annotations

import datetime
from typing import Any

from climate import exceptions
from climate.api.http.json_schema import form
from climate.api.http.validation import Validator
from climate.domain.leases import Readiness

_NAMES: dict[str, Any] = {
    'type': 'array',
    'maxItems': 1000,
    'items': {'type': 'string', 'minLength': 1, 'maxLength': 255},
}

READINESS = form(
    'by',
    ready=_NAMES,
    waiting=_NAMES,
    by={'type': 'string', 'minLength': 1, 'maxLength': 255},
    detail={'type': 'string', 'maxLength': 2000},
)

_READINESS = Validator(READINESS)


def read(body: dict[str, Any], now: datetime.datetime) -> Readiness:
    """Return the reported readiness of the resources of a lease.

    :param now: the instant of the report (aware UTC)
    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    _READINESS.check(body)
    ready, waiting = set(body.get('ready', ())), set(body.get('waiting', ()))
    if not ready | waiting:
        raise exceptions.MissingParameter(param='ready')
    both = sorted(ready & waiting)
    if both:
        raise exceptions.InvalidInput.of('waiting', f"'{both[0]}' is said to be ready too")
    return Readiness(
        ready=tuple(sorted(ready)),
        waiting=tuple(sorted(waiting)),
        by=body['by'],
        detail=body.get('detail', ''),
        at=now,
    )
