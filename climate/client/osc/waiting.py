# SPDX-License-Identifier: Apache-2.0

"""A lease that was refused, and waits instead: as soon as possible from its start on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.client import times
from climate.client.osc import options
from climate.client.sdk import errors
from climate.client.sdk.proxy import ReservationProxy
from climate.domain import periods

# Times that only a lease with fixed dates can have.
_FIXED: Final = frozenset({'before_end_date', 'events'})


def alternative(
    proxy: ReservationProxy, body: Mapping[str, Any], error: errors.RefusedRequest
) -> tuple[dict[str, Any] | None, str]:
    """Return the body of a lease that waits, and a line with its forecast.

    :param body: of the lease that was refused
    :returns: None and an empty text if it cannot wait
    """
    if not error.reasons or not proxy.supports('1.8'):
        return None, ''
    waits = _waiting(body)
    if waits is None:
        return None, ''
    try:
        lease = proxy.rehearse_lease(**waits)['lease']
    except errors.RefusedRequest:
        return None, ''
    if lease['status'] == 'WAITING':
        return waits, '  w. wait: there is no room in its window yet\n'
    start = times.write(lease['start_date'])
    return waits, f'  w. wait: begins at {start} as it looks now, or earlier\n'


def _waiting(body: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the body of the same lease without a fixed start; None if it cannot have none."""
    if body.keys() & {'wait', 'offer_id', *_FIXED}:
        return None
    waits = {key: body[key] for key in body if key not in ('start_date', 'end_date')}
    start = body.get('start_date', periods.NOW)
    if start != periods.NOW:
        waits['earliest'] = start
    if 'duration' not in body:
        begin = options.now() if start == periods.NOW else times.read(start)
        waits['duration'] = int((times.read(body['end_date']) - begin).total_seconds())
    return {**waits, 'wait': True}
