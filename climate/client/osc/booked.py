# SPDX-License-Identifier: Apache-2.0

"""What ``openstack lease create`` says besides of a lease that it has booked."""

from __future__ import annotations

import re
from typing import Any
from typing import Final

from climate.client import times
from climate.client.osc import options
from climate.client.osc.columns import DurationColumn
from climate.client.sdk.leases import Lease
from climate.client.sdk.proxy import ReservationProxy

# As the service notes it in the history of a lease.
_GAVE_WAY: Final = re.compile(r'took the place of (\d+) flexible leases?')


def columns(proxy: ReservationProxy, lease: Lease) -> dict[str, Any]:
    """Return how many leases gave it their place, and how long until its start is firm.

    There are no columns for what is not so.
    """
    if not proxy.supports('1.8') or lease.status == 'WAITING':
        return {}
    found: dict[str, Any] = {}
    gave_way = _gave_way(proxy, lease)
    if gave_way:
        found['displaced'] = gave_way
    if lease.firm_at:
        left = (times.read(lease.firm_at) - options.now()).total_seconds()
        found['firm_in'] = DurationColumn(max(round(left), 0))
    return found


def _gave_way(proxy: ReservationProxy, lease: Lease) -> int:
    lines = (line for step in proxy.lease_history(lease).steps or () for line in step['lines'])
    return sum(int(match[1]) for one in lines if (match := _GAVE_WAY.fullmatch(one['text'])))
