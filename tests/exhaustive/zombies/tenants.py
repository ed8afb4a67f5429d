# SPDX-License-Identifier: Apache-2.0

"""The leases of the next tenant, and its servers and volumes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import Literal

from climate.cloud.base import ServerDraft
from climate.domain.leases import Lease
from climate.domain.requests import Caller
from tests import drafts
from tests.functional.manager import harness
from tests.functional.manager.walk import storage
from tests.functional.manager.walk.deployment import WalkDeployment

PROJECT = 'red'
CALLER = Caller(user_id='bob', project_id=PROJECT, token=f'bob:{PROJECT}')
Often = Literal['state', 'event', 'once']
Requests = tuple[Mapping[str, Any], ...]

_HOSTS: Mapping[str, Any] = {'resource_type': 'physical:host', 'min': 4, 'max': 4, 'before_end': ''}
_SLOTS: Mapping[str, Any] = {
    'resource_type': 'virtual:instance',
    'vcpus': 16,
    'memory_mb': 4096,
    'disk_gb': 10,
    'amount': 4,
    'affinity': False,
}


def _hosts(_site: WalkDeployment) -> Requests:
    return (_HOSTS,)


def _slots(_site: WalkDeployment) -> Requests:
    return (_SLOTS,)


def _addresses(site: WalkDeployment) -> Requests:
    public = next(item.id for item in site.cloud.networks.networks() if item.external)
    return ({'resource_type': 'virtual:floatingip', 'network_id': public, 'amount': 3},)


def _segments(amount: int) -> Callable[[WalkDeployment], Requests]:
    request = {'resource_type': 'network', 'network_name': 'next'}
    return lambda _site: (request,) * amount


def _racks(_site: WalkDeployment) -> Requests:
    return ({'resource_type': drafts.RACKS.name, 'min': 3, 'max': 3},)


def _pools(amount: int) -> Callable[[WalkDeployment], Requests]:
    request = {'resource_type': 'physical:storage', 'min': amount, 'max': amount}
    return lambda _site: (request,)


def _several(site: WalkDeployment) -> Requests:
    return (_HOSTS, *_addresses(site), *_segments(1)(site), *_racks(site))


def _and_hosts(more: Callable[[WalkDeployment], Requests]) -> Callable[[WalkDeployment], Requests]:
    return lambda site: (_HOSTS, *more(site))


# The next leases by kind: they take all resources that the previous lease may have had.
NEXT: Mapping[str, tuple[Callable[[WalkDeployment], Requests], ...]] = {
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
    # A lease of whole hosts would remove the server that the volume is attached to.
    'volume that exists': (_slots,),
    'volume that is saved': (_slots,),
    'virtual:stack': (_hosts,),
    'made:stack': (_hosts,),
    'stack with addresses': (_and_hosts(_addresses),),
    'several': (_several,),
}

# Permanent changes that a late call may make, by kind and verb: a table, and its first
# column that may change. Only the margin of the fence prevents these calls from being late.
OWN: Mapping[tuple[str, str], tuple[str, int]] = {
    # An existing stack belongs to its owner again after the lease, and may run. A late call
    # that resumes it cannot be detected; its resources are the same.
    ('virtual:stack', 'orchestration.resume_stack'): ('stacks', 5),
    # A slot, until the lease ends, on a host that an undone change has released: a check
    # cannot find it, and no server can use it, because the host is not in the aggregate.
    ('several', 'placement.set_inventory'): ('inventories', 0),
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """The events until a stalled manager continues.

    :ivar when: ``next``: the next tenant uses its lease; ``nobody``: the lease has ended,
        and there is no next lease; ``during``: another manager has finished the work
    :ivar following: returns the requests of the next lease
    :ivar often: the calls to stall: with ``state``, each call in each state of the lease,
        including read-only calls and those on their way back; with ``event``, each verb
        once per event of the lease; with ``once``, each verb once per set of arguments. The
        last two stall only calls on their way to the cloud
    """

    name: str
    when: Literal['next', 'nobody', 'during']
    following: Callable[[WalkDeployment], Requests]
    often: Often


def cases(kind: str) -> list[Case]:
    """Return all cases of a kind."""
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


def use(site: WalkDeployment, lease: Lease) -> None:
    """Run a server on each host, or in each slot, and fill each pool."""
    for reservation in lease.reservations:
        if reservation.resource_type == 'physical:host':
            for host in sorted(site.hosts(lease)):
                site.cloud.boot_server(host, PROJECT, f'next on {host}')
        if reservation.resource_type == 'virtual:instance':
            for _ in range(_SLOTS['amount']):
                draft = ServerDraft(name='next', flavor_id=reservation.id)
                site.cloud.compute_of(PROJECT).create_server(draft)
        if reservation.resource_type == 'physical:storage':
            site.cloud.of_caller(f'bob:{PROJECT}').volume.create_volume(
                'next', 1, volume_type=f'reservation:{reservation.id}'
            )


def leave(site: WalkDeployment) -> None:
    """Delete the servers of the next tenant."""
    for server in site.cloud.servers():
        if server.project_id == PROJECT:
            site.cloud.compute.delete_server(server.id)


assert PROJECT != harness.PROJECT
