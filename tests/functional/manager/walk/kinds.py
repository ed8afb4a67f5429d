# SPDX-License-Identifier: Apache-2.0

"""What the walk books of each resource type: an entry here is all a type needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from climate.cloud.base import ServerDraft
from climate.domain.leases import Lease
from climate.testing.kinds import LeasedType
from climate.testing.kinds import TypeRegistrar
from tests import drafts
from tests.functional.manager import harness
from tests.functional.manager.walk import servers
from tests.functional.manager.walk import stacks
from tests.functional.manager.walk import storage
from tests.functional.manager.walk.deployment import WalkDeployment

ADDRESSES = ('203.0.113.201', '203.0.113.202', '203.0.113.203')
ROUTER = 'router'
_LIFE = frozenset({'start', 'move', 'end', 'delete', 'check', 'rebuild', 'sweep'})


def _hosts(_place: TypeRegistrar) -> tuple[Mapping[str, Any], ...]:
    return ({'resource_type': 'physical:host', 'min': 2, 'max': 2, 'before_end': ''},)


def _boot(site: WalkDeployment, lease: Lease) -> None:
    for host in sorted(site.hosts(lease)):
        site.cloud.boot_server(host, harness.PROJECT, f'server on {host}')


def _public(place: TypeRegistrar) -> str:
    return next(item.id for item in place.cloud.networks.networks() if item.external)


def _addresses(place: TypeRegistrar) -> tuple[Mapping[str, Any], ...]:
    public = _public(place)
    for address in ADDRESSES:
        place.register(
            'virtual:floatingip', floating_network_id=public, floating_ip_address=address
        )
    _own_network(place)
    return ({'resource_type': 'virtual:floatingip', 'network_id': public, 'amount': 2},)


def _own_network(place: TypeRegistrar) -> None:
    """Let the project have a router, and a server, in a network of its own."""
    inner = place.cloud.networks.add_network('inner', harness.PROJECT)
    subnet = place.cloud.networks.add_subnet(inner.id, '10.8.0.0/24')
    place.cloud.networks.add_router(subnet.id, harness.PROJECT, ROUTER)
    place.cloud.networks.add_port(subnet.id, harness.PROJECT, 'server')


def _stack_with_addresses(place: TypeRegistrar) -> tuple[Mapping[str, Any], ...]:
    (address,) = _addresses(place)
    (stack,) = stacks.made(place)
    return ({**stack, 'template': stacks.with_addresses(str(address['network_id']))},)


def _attach(site: WalkDeployment, _lease: Lease) -> None:
    inner = next(item for item in site.cloud.networks.networks() if item.name == 'inner')
    ports = site.cloud.network.list_ports(inner.id)
    port = next(item for item in ports if item.device_id == 'server')
    site.cloud.networks.attach(site.cloud.networks.floating_ips()[0].id, port.id)


def _segments(place: TypeRegistrar) -> tuple[Mapping[str, Any], ...]:
    requests = _segments_of(place, 101, 102)
    _own_network(place)
    place.cloud.network.create_floating_ip(_public(place), harness.PROJECT)
    return requests


def _segments_of(place: TypeRegistrar, *numbers: int) -> tuple[Mapping[str, Any], ...]:
    for number in numbers:
        place.register(
            'network', network_type='vlan', physical_network='physnet1', segment_id=number
        )
    return ({'resource_type': 'network', 'network_name': 'walk'},)


def _plug(site: WalkDeployment, _lease: Lease) -> None:
    networks = site.cloud.networks
    made = next(item for item in networks.networks() if item.name == 'walk')
    subnet = networks.add_subnet(made.id, '10.9.0.0/24')
    networks.add_router(subnet.id, harness.PROJECT, ROUTER)
    port = networks.add_port(subnet.id, harness.PROJECT, 'server')
    networks.attach(networks.floating_ips()[0].id, port.id)


def _slots(_place: TypeRegistrar) -> tuple[Mapping[str, Any], ...]:
    sizes = {'vcpus': 2, 'memory_mb': 4096, 'disk_gb': 10, 'amount': 2, 'affinity': False}
    return ({'resource_type': 'virtual:instance', **sizes},)


def _slots_of_flavor(place: TypeRegistrar) -> tuple[Mapping[str, Any], ...]:
    small = place.cloud.compute.list_flavors()[0]
    return ({'resource_type': 'flavor:instance', 'flavor_id': small.id, 'amount': 3},)


def _fill(site: WalkDeployment, lease: Lease) -> None:
    """Start a server of each flavor, which leaves slots that are free."""
    for reservation in lease.reservations:
        site.cloud.compute_of(harness.PROJECT).create_server(
            ServerDraft(name='server', flavor_id=reservation.id)
        )


def _racks(place: TypeRegistrar) -> tuple[Mapping[str, Any], ...]:
    for name in ('rack-1', 'rack-2', 'rack-3'):
        place.register(drafts.RACKS.name, name)
    return ({'resource_type': drafts.RACKS.name, 'min': 2, 'max': 2},)


def _several(place: TypeRegistrar) -> tuple[Mapping[str, Any], ...]:
    """One of each, so that what fails has others before it and after it."""
    host = {'resource_type': 'physical:host', 'min': 1, 'max': 1, 'before_end': ''}
    return (host, *_slots(place), *_addresses(place), *_segments_of(place, 101), *_racks(place))


def _use_several(site: WalkDeployment, lease: Lease) -> None:
    first = lease.reservations[0].id
    (whole,) = (item for item in site.cloud.aggregates() if item.name == first)
    site.cloud.boot_server(whole.hosts[0], harness.PROJECT, 'server')
    site.cloud.compute_of(harness.PROJECT).create_server(
        ServerDraft(name='server', flavor_id=lease.reservations[1].id)
    )
    _attach(site, lease)


AMOUNTS = {'grow': ({'amount': 3},), 'shrink': ({'amount': 1},)}
MEMBERS = {'grow': ({'min': 3, 'max': 3},), 'shrink': ({'min': 1, 'max': 1},)}
_ATTACHED: Any = {'use': storage.attach, 'only': storage.OF_VOLUMES}
_FOUND: Any = {'wrong': servers.lost, 'put_away': servers.put_away}
OTHER_NAME = {'network_name': 'other', 'network_description': 'new'}
# Hosts that are in use are not given up before the end.
MORE_HOSTS = {'grow': MEMBERS['grow']}
KINDS: dict[str, LeasedType] = {
    'physical:host': LeasedType(furnish=_hosts, changes=MORE_HOSTS, use=_boot),
    'virtual:floatingip': LeasedType(furnish=_addresses, changes=AMOUNTS, use=_attach),
    'network': LeasedType(furnish=_segments, changes={'rename': (OTHER_NAME,)}, use=_plug),
    'virtual:instance': LeasedType(furnish=_slots, changes=AMOUNTS, use=_fill),
    'flavor:instance': LeasedType(
        furnish=_slots_of_flavor, changes={**AMOUNTS, 'grow': ({'amount': 5},)}, use=_fill
    ),
    'virtual:server': LeasedType(
        furnish=lambda place: servers.own(place.cloud),
        # It is prepared as soon as it is booked.
        only=_LIFE | {'delete prepared'},
        **_FOUND,
    ),
    'server booted': LeasedType(
        furnish=lambda place: servers.booted(place.cloud),
        # Nobody makes it again in the middle of its lease, and what is left of
        # a user's trust is gone with the user only.
        only=_LIFE - {'rebuild', 'sweep'},
        **_FOUND,
    ),
    drafts.RACKS.name: LeasedType(furnish=_racks, changes=MEMBERS),
    'physical:storage': LeasedType(
        furnish=storage.pools, changes=MEMBERS, use=storage.fill, only=storage.OF_POOLS
    ),
    'virtual:volume': LeasedType(
        furnish=storage.made, changes={'grow': AMOUNTS['grow']}, **_ATTACHED
    ),
    'volume that exists': LeasedType(furnish=storage.existing, **_ATTACHED),
    'volume that is saved': LeasedType(
        furnish=storage.saved,
        use=storage.attach,
        only=storage.OF_SAVED,
        wrong=storage.lost,
        put_away=storage.put_away,
    ),
    'virtual:stack': LeasedType(
        furnish=stacks.existing,
        # No effect follows; the walk shows that it is so.
        changes={'end otherwise': ({'on_end': ['suspend']},)},
        use=stacks.use,
        same=stacks.same,
        # Nobody looks for a trust that has come back.
        without=frozenset({'sweep'}),
    ),
    'made:stack': LeasedType(
        furnish=stacks.made,
        use=stacks.use,
        # Whoever has lost a stack may have wanted to: none is made in its
        # place; and those that only their owners see cannot be looked for.
        # A whole life is its start and its end, and takes very long.
        without=frozenset({'rebuild', 'sweep', 'whole life'}),
    ),
    'stack with addresses': LeasedType(
        furnish=_stack_with_addresses,
        use=stacks.use,
        # All else is as of a stack without.
        only=frozenset({'start', 'end'}),
    ),
    'several': LeasedType(
        furnish=_several,
        changes={'grow': (None, {'amount': 3}, {'amount': 3}, None, None)},
        use=_use_several,
        only=frozenset({'start', 'undo grow', 'end'}),
    ),
}
