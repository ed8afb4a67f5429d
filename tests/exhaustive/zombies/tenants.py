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

"""What the next tenant leases, and runs there."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import Literal

from climate.clients.base import ServerDraft
from climate.domain.leases import Lease
from climate.domain.requests import Caller
from tests import drafts
from tests.functional.manager import harness
from tests.functional.manager.walk import storage
from tests.functional.manager.walk.world import World

PROJECT = 'red'
CALLER = Caller(user_id='bob', project_id=PROJECT, token=f'bob:{PROJECT}')
Requests = tuple[Mapping[str, Any], ...]

_HOSTS: Mapping[str, Any] = {
    'resource_type': 'physical:host',
    'min': 4,
    'max': 4,
    'before_end': '',
}
_SLOTS: Mapping[str, Any] = {
    'resource_type': 'virtual:instance',
    'vcpus': 16,
    'memory_mb': 4096,
    'disk_gb': 10,
    'amount': 4,
    'affinity': False,
}


def _hosts(_world: World) -> Requests:
    return (_HOSTS,)


def _slots(_world: World) -> Requests:
    return (_SLOTS,)


def _addresses(world: World) -> Requests:
    public = next(item.id for item in world.twin.networks.networks() if item.external)
    return ({'resource_type': 'virtual:floatingip', 'network_id': public, 'amount': 3},)


def _segments(amount: int) -> Callable[[World], Requests]:
    request = {'resource_type': 'network', 'network_name': 'next'}
    return lambda _world: (request,) * amount


def _racks(_world: World) -> Requests:
    return ({'resource_type': drafts.RACKS.name, 'min': 3, 'max': 3},)


def _pools(amount: int) -> Callable[[World], Requests]:
    request = {'resource_type': 'physical:storage', 'min': amount, 'max': amount}
    return lambda _world: (request,)


def _several(world: World) -> Requests:
    return (_HOSTS, *_addresses(world), *_segments(1)(world), *_racks(world))


def _and_hosts(more: Callable[[World], Requests]) -> Callable[[World], Requests]:
    return lambda world: (_HOSTS, *more(world))


# By kind, what is leased next: everything of what the lease before could have had.
NEXT: Mapping[str, tuple[Callable[[World], Requests], ...]] = {
    'physical:host': (_hosts, _slots),
    'virtual:instance': (_hosts, _slots),
    'flavor:instance': (_hosts, _slots),
    'virtual:server': (_hosts, _slots),
    'server booted': (_hosts, _slots),
    'virtual:floatingip': (_addresses,),
    'network': (_segments(2),),
    drafts.RACKS.name: (_racks,),
    'physical:storage': (_pools(len(storage.POOLS)),),
    'virtual:volume': (_pools(1),),
    # Hosts that are leased as a whole would be cleared of the server that is there.
    'volume that exists': (_slots,),
    'volume that is saved': (_slots,),
    'virtual:stack': (_hosts,),
    'made:stack': (_hosts,),
    'stack with addresses': (_and_hosts(_addresses),),
    'several': (_several,),
}

_ALL = frozenset({'next 1', 'next 2', 'nobody', 'during'})
_BUT_FIRST = _ALL - {'next 1'}
# What was not walked to its end yet. A test that is skipped names these, so that
# they are not taken for proven.
UNTRIED: Mapping[str, frozenset[str]] = {
    'physical:host': _BUT_FIRST,
    'virtual:instance': _BUT_FIRST,
    'server booted': _BUT_FIRST,
    'virtual:volume': _ALL,
    'flavor:instance': _ALL,
    'virtual:server': _ALL,
    'volume that exists': _ALL,
    'volume that is saved': _ALL,
    'virtual:stack': _ALL,
    'made:stack': _ALL,
    'stack with addresses': _ALL,
    'several': _ALL,
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """When a manager goes on, and what others have leased by then.

    :ivar when: ``next``: when the next tenant is there; ``nobody``: when the
        lease is over and nobody has come; ``during``: when another manager has
        done what this one was at
    :ivar following: what is leased next
    :ivar thorough: whether calls that look are stopped as well, and calls on their way back
    """

    name: str
    when: Literal['next', 'nobody', 'during']
    following: Callable[[World], Requests]
    thorough: bool = False


def cases(kind: str) -> list[Case]:
    """Return all that can become of a kind meanwhile."""
    found = [
        Case(name=f'next {number}', when='next', following=each, thorough=number == 1)
        for number, each in enumerate(NEXT[kind], 1)
    ]
    first = NEXT[kind][0]
    found.append(Case(name='nobody', when='nobody', following=first))
    found.append(Case(name='during', when='during', following=first))
    return [case for case in found if case.name not in UNTRIED.get(kind, ())]


def use(world: World, lease: Lease) -> None:
    """Run a server on each host, or in each slot, and fill each pool."""
    for reservation in lease.reservations:
        if reservation.resource_type == 'physical:host':
            for host in sorted(world.hosts(lease)):
                world.twin.boot_server(host, PROJECT, f'next on {host}')
        if reservation.resource_type == 'virtual:instance':
            for _ in range(_SLOTS['amount']):
                draft = ServerDraft(name='next', flavor_id=reservation.id)
                world.twin.compute_of(PROJECT).create_server(draft)
        if reservation.resource_type == 'physical:storage':
            world.twin.of_caller(f'bob:{PROJECT}').volume.create_volume(
                'next', 1, volume_type=f'reservation:{reservation.id}'
            )


def leave(world: World) -> None:
    """Let nothing of the next tenant's own be left."""
    for server in world.twin.servers():
        if server.project_id == PROJECT:
            world.twin.compute.delete_server(server.id)


assert PROJECT != harness.PROJECT
