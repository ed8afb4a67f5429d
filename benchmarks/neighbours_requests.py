# SPDX-License-Identifier: Apache-2.0
# Which members sent before they were measured: what a process keeps for all requests.
"""What a member sends that costs its neighbours the most: kinds that are allowed."""

from __future__ import annotations

import dataclasses
import datetime
import json
from collections.abc import Iterator
from typing import Any
from typing import Final

from benchmarks import parts
from benchmarks import worst_requests

PROJECT: Final = 'greedy'
NEIGHBOUR: Final = 'alice:quiet:member'
LEASES: Final = 500
"""How many leases the member has, which it lists without pages."""

_KINDS: Final = (
    '20 requirements of 25 conditions, hosts',
    'refused: 20 requirements of 25 conditions, hosts',
    'offers: 20 requirements of 25 conditions, slots',
    '20 placements that are apart and spread',
    'refused: 20 placements that are apart and spread',
    'offers: 20 placements that are apart and spread',
    'offers: 20 placements of the same rack',
    '333 buckets by rack',
)


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
        """The headers of the request, without the token."""
        return {
            'Content-Type': 'application/json',
            'OpenStack-API-Version': f'reservation {self.version}',
        }

    @property
    def payload(self) -> bytes:
        """The body of the request."""
        return b'' if self.body is None else json.dumps(self.body).encode()


def tokens(number: int) -> list[str]:
    """Return so many tokens of the project; the proxy has a limit for each token, too."""
    return [f'mallory-{each}:{PROJECT}:member' for each in range(number)]


def kinds(now: datetime.datetime, hosts: int) -> Iterator[Kind]:
    """Yield the kinds of request that members can send and that cost the most."""
    # Just as much as there is: to find whether it fits takes longest.
    known = worst_requests.by_name(now, max(1, hosts // 20))
    for name in _KINDS:
        method, path, body = known[name]
        yield Kind(name=name, method=method, path=path, body=body)
    most = parts.lease_body('greedy', now + 24 * parts.HOUR)
    most['reservations'][0].update(min=90, max=90)
    yield Kind(
        name='rehearsal of 90 hosts',
        method='POST',
        path='/v1/leases',
        body={**most, 'dry_run': True},
    )
    yield Kind(name=f'all {LEASES} leases, at 1.0', method='GET', path='/v1/leases', version='1.0')


def leases(now: datetime.datetime) -> Iterator[dict[str, Any]]:
    """Yield the bodies of requests for the leases of the member."""
    first = now + datetime.timedelta(days=30)
    for each in range(LEASES):
        yield parts.lease_body(f'greedy-{each}', first + each * parts.HOUR)
