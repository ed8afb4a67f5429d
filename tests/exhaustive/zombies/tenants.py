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
Often = Literal['state', 'event', 'once']
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
    public = next(item.id for item in world.cloud.networks.networks() if item.external)
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

# What a call that arrives late may change for good, by kind and verb: the columns of a table
# from this one on. Only the margin of the fence keeps these calls from arriving late.
OWN: Mapping[tuple[str, str], tuple[str, int]] = {
    # A stack that existed is its owner's again after the lease, and may run. That somebody
    # else has resumed it nothing tells; what it consists of is the same.
    ('virtual:stack', 'orchestration.resume_stack'): ('stacks', 5),
    # A slot on a host that an undone change has given up, until the lease ends: nothing tells
    # a check where to look, and the host is not in the aggregate, so nobody gets there.
    ('several', 'placement.set_inventory'): ('inventories', 0),
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """When a manager goes on, and what others have leased by then.

    :ivar when: ``next``: when the next tenant is there; ``nobody``: when the
        lease is over and nobody has come; ``during``: when another manager has
        done what this one was at
    :ivar following: what is leased next
    :ivar often: what is stopped: ``state``: each call in each state of the lease, also on
        its way back, and calls that look; ``event``: a verb once in each event of the lease,
        ``once``: a verb once with such arguments, and on its way to the cloud both
    """

    name: str
    when: Literal['next', 'nobody', 'during']
    following: Callable[[World], Requests]
    often: Often


def cases(kind: str) -> list[Case]:
    """Return all that can become of a kind meanwhile."""
    found = [
        Case(
            name=f'next {number}',
            when='next',
            following=each,
            often='state' if number == 1 else 'once',
        )
        for number, each in enumerate(NEXT[kind], 1)
    ]
    first = NEXT[kind][0]
    found.append(Case(name='nobody', when='nobody', following=first, often='once'))
    found.append(Case(name='during', when='during', following=first, often='event'))
    return found


def use(world: World, lease: Lease) -> None:
    """Run a server on each host, or in each slot, and fill each pool."""
    for reservation in lease.reservations:
        if reservation.resource_type == 'physical:host':
            for host in sorted(world.hosts(lease)):
                world.cloud.boot_server(host, PROJECT, f'next on {host}')
        if reservation.resource_type == 'virtual:instance':
            for _ in range(_SLOTS['amount']):
                draft = ServerDraft(name='next', flavor_id=reservation.id)
                world.cloud.compute_of(PROJECT).create_server(draft)
        if reservation.resource_type == 'physical:storage':
            world.cloud.of_caller(f'bob:{PROJECT}').volume.create_volume(
                'next', 1, volume_type=f'reservation:{reservation.id}'
            )


def leave(world: World) -> None:
    """Let nothing of the next tenant's own be left."""
    for server in world.cloud.servers():
        if server.project_id == PROJECT:
            world.cloud.compute.delete_server(server.id)


assert PROJECT != harness.PROJECT
