# SPDX-License-Identifier: Apache-2.0
# Which members sent before they were measured: what a process keeps for all requests.
"""The requests of members that cost the most: as much as the limits allow, or more.

The hosts are those of :class:`tests.functional.bulk_parts.Parts`.
"""

from __future__ import annotations

import datetime
import json
from typing import Any
from typing import Final

from benchmarks import parts
from tests.functional import bulk_parts

_MANY: Final = 20
_DAY: Final = 24 * parts.HOUR
_FORMAT: Final = '%Y-%m-%dT%H:%M:%SZ'
_SLOT: Final = {'resource_type': 'virtual:instance', 'memory_mb': 1, 'disk_gb': 0}
_HOST: Final = {'resource_type': 'physical:host', 'min': 1, 'max': 1}

Request = tuple[str, str, dict[str, Any] | None]
"""Method, path and body."""


def _lists(amount: int) -> dict[str, list[dict[str, Any]]]:
    """Return reservations by kind."""
    spread = {'spread': [{'property': 'rack'}]}
    return {
        'one host': [_HOST],
        'one slot': [_slots(1)],
        '20 requirements of 25 conditions, hosts': _hosts(25),
        '20 requirements of 25 conditions, slots': [
            {**_slots(1), 'resource_properties': _expression(place, 25)} for place in range(_MANY)
        ],
        '20 requirements of 100 conditions': _hosts(100),
        '20 placements that are apart': [
            {**_slots(amount), 'placement': {'apart_from': _others(place)}}
            for place in range(_MANY)
        ],
        '20 placements that are apart and spread': [
            {**_slots(amount), 'placement': {**spread, 'apart_from': _others(place)}}
            for place in range(_MANY)
        ],
        '20 placements of the same rack': [
            {**_slots(20), 'placement': {'same': ['rack']}} for _ in range(_MANY)
        ],
    }


def by_name(now: datetime.datetime, amount: int = 150) -> dict[str, Request]:
    """Return the kinds by name: two usual ones, and the worst that limits allow.

    :param amount: of each of 20 groups of instances that are apart; each takes a host
    """
    start = now + _DAY
    end = start + 2 * parts.HOUR
    found: dict[str, Request] = {}
    for name, reservations in _lists(amount).items():
        lease = {
            'name': 'worst',
            'start_date': f'{start:{_FORMAT}}',
            'end_date': f'{end:{_FORMAT}}',
            'reservations': reservations,
        }
        found[name] = ('POST', '/v1/leases', {**lease, 'dry_run': True})
        if len(reservations) > 1:
            found[f'refused: {name}'] = ('POST', '/v1/leases', _impossible(lease))
            wish = {'reservations': reservations, 'duration': '2h', 'limit': 10}
            found[f'offers: {name}'] = ('POST', '/v1/offers', wish)
    last = f'{now + 999 * parts.HOUR:{_FORMAT}}'
    query = f'resource_type=physical:host&end={last}&step=3600&resources=VCPU:1,MEMORY_MB:2048'
    found['999 buckets'] = ('GET', f'/v1/availability?{query}', None)
    found['333 buckets by rack'] = (
        'GET',
        f'/v1/availability?resource_type=physical:host&step=10800&end={last}&group_by=rack',
        None,
    )
    return found


def _impossible(lease: dict[str, Any]) -> dict[str, Any]:
    """Return a lease that is refused after all that it requires was searched for."""
    *most, last = lease['reservations']
    much = {'amount': 10**6} if 'amount' in last else {'min': 10**6, 'max': 10**6}
    return {**lease, 'reservations': [*most, {**last, **much}]}


def _slots(amount: int) -> dict[str, Any]:
    # More than half of a host, so that no two fit on one.
    return {**_SLOT, 'vcpus': bulk_parts.CAPACITY['VCPU'] // 2 + 1, 'amount': amount}


def _hosts(conditions: int) -> list[dict[str, Any]]:
    return [
        {**_HOST, 'resource_properties': _expression(place, conditions)} for place in range(_MANY)
    ]


def _expression(place: int, conditions: int) -> str:
    parts_ = [
        ['>=', '$vcpus', str(-place)],
        *(['!=', '$rack', str(each)] for each in range(conditions - 1)),
    ]
    return json.dumps(['and', *parts_])


def _others(place: int) -> list[int]:
    return [(place + step) % _MANY for step in range(1, 11)]
