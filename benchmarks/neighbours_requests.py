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
"""The most expensive kinds of request that a member can send, for 100 hosts."""

from __future__ import annotations

import dataclasses
import datetime
import json
import urllib.parse
from collections.abc import Callable
from typing import Any
from typing import Final

MEMBER: Final = 'mallory:greedy:member'
NEIGHBOUR: Final = 'alice:quiet:member'

_MOST: Final = 20
_CONDITIONS: Final = 100
_BUCKETS: Final = 999
_HOUR: Final = datetime.timedelta(hours=1)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """A kind of request.

    :ivar name: in the table
    :ivar body: sent as JSON; None for no body
    :ivar version: the microversion
    """

    name: str
    method: str
    path: str
    body: dict[str, Any] | None = None
    version: str = '1.5'

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the request."""
        return {
            'X-Auth-Token': MEMBER,
            'Content-Type': 'application/json',
            'OpenStack-API-Version': f'reservation {self.version}',
        }

    @property
    def payload(self) -> bytes:
        """The body of the request."""
        return b'' if self.body is None else json.dumps(self.body).encode()


def _expression(number: int) -> str:
    """Return a requirement of the most conditions; each number gives another one."""
    conditions = [
        json.dumps(['>=', '$vcpus', str(-(number * _CONDITIONS + each))])
        for each in range(_CONDITIONS)
    ]
    return f'["and", {", ".join(conditions)}]'


def _hosts(number: int, most: int) -> dict[str, Any]:
    return {
        'resource_type': 'physical:host',
        'min': most,
        'max': most,
        'hypervisor_properties': '',
        'resource_properties': _expression(number),
    }


def _instances(**placement: Any) -> dict[str, Any]:
    wanted = {
        'resource_type': 'virtual:instance',
        'vcpus': 12,
        'memory_mb': 128,
        'disk_gb': 0,
        'amount': 150,
        'resource_properties': '',
    }
    return {**wanted, 'placement': placement} if placement else wanted


def _lease(start: datetime.datetime, *reservations: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        'name': 'greedy',
        'start_date': f'{start:%Y-%m-%d %H:%M}',
        'end_date': f'{start + 2 * _HOUR:%Y-%m-%d %H:%M}',
        'reservations': list(reservations),
        **more,
    }


def _apart(number: int) -> list[dict[str, Any]]:
    others = [each for each in range(_MOST) if each != number][:10]
    return [{'reservation': each, 'property': 'host'} for each in others]


def _availability(now: datetime.datetime) -> str:
    query = {
        'resource_type': 'physical:host',
        'end': f'{now + _BUCKETS * _HOUR:%Y-%m-%dT%H:%M:%SZ}',
        'step': '3600',
        'resource_properties': _expression(0),
    }
    return f'/v1/availability?{urllib.parse.urlencode(query)}'


def kinds(now: datetime.datetime) -> list[Kind]:
    """Return the kinds of request that members can send and that cost the most."""
    start = now + 24 * _HOUR
    different = [_hosts(each, 6) for each in range(_MOST)]
    spread = {'spread': [{'property': 'rack', 'max_skew': 1}]}
    spreads = [_instances(**spread) for _ in range(_MOST)]
    apart = [_instances(spread=spread['spread'], apart_from=_apart(each)) for each in range(_MOST)]
    ninety = {**_hosts(0, 90), 'resource_properties': ''}
    lease: Callable[..., dict[str, Any]] = _lease
    made = (
        (
            'rehearsal of 20 requirements',
            'POST',
            '/v1/leases',
            lease(start, *different, dry_run=True),
        ),
        ('create, 20 requirements, refused', 'POST', '/v1/leases', lease(start, *different)),
        ('offers for 20 requirements', 'POST', '/v1/offers', _wish(*different)),
        ('rehearsal of 20 placements', 'POST', '/v1/leases', lease(start, *apart, dry_run=True)),
        ('create, 20 placements, refused', 'POST', '/v1/leases', lease(start, *apart)),
        ('offers for 20 placements', 'POST', '/v1/offers', _wish(*spreads)),
        (
            'offers for 20 spread servers',
            'POST',
            '/v1/offers',
            _wish({**_instances(**spread), 'amount': 20}),
        ),
        ('rehearsal of 90 hosts', 'POST', '/v1/leases', lease(start, ninety, dry_run=True)),
        ('availability of 999 hours', 'GET', _availability(now), None),
    )
    found = [
        Kind(name=name, method=method, path=path, body=body) for name, method, path, body in made
    ]
    return [*found, Kind(name='all leases, at 1.0', method='GET', path='/v1/leases', version='1.0')]


def _wish(*reservations: dict[str, Any]) -> dict[str, Any]:
    return {'reservations': list(reservations), 'duration': '2h', 'limit': 10}
