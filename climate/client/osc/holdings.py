# SPDX-License-Identifier: Apache-2.0

"""What one has with a lease, and what one does with it."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any
from typing import Final

from openstack import exceptions

from climate.allocation import requirements as values
from climate.client import fields
from climate.client import nouns
from climate.client import requirements
from climate.client.sdk.leases import Lease
from climate.client.sdk.proxy import ReservationProxy
from climate.domain.lifecycles import LeaseStatus

# The names that a table shows of each reservation.
_EARLY: Final = (LeaseStatus.PENDING, LeaseStatus.STARTING)
_MOST: Final = 100
# Fields of a reservation that say how much each of its resources has.
_SIZES: Final[Mapping[str, str]] = {
    'vcpus': '{} VCPU',
    'memory_mb': '{} MiB of memory',
    'disk_gb': '{} GiB of disk',
    'size': '{} GiB',
    'flavor_id': 'flavor {}',
}


def completed(proxy: ReservationProxy, lease: Lease) -> Lease:
    """Give the reservations of a lease the names of their resources.

    Services older than microversion 1.7 list them with the allocations, if the caller may see
    them.
    """
    items = lease.reservations or []
    if all('resources' in each and 'instructions' in each for each in items):
        return lease
    names: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for kind in {str(each['resource_type']) for each in items}:
        # Older services do not have the allocations of all types, and policy can forbid them.
        with contextlib.suppress(exceptions.SDKException):
            for resource in proxy.allocations(type=kind, lease_id=lease.id):
                for each in resource.reservations:
                    named = {'id': resource.resource_id, 'name': resource.resource_name}
                    names[each['id']].append(named)
    for each in items:
        # Slots of declared types have units of this name there.
        each.setdefault('resources', names[each['id']])
    return lease


def resource_names(reservation: Mapping[str, Any]) -> list[str]:
    """Return the names of the resources that a reservation holds, as far as they are known."""
    resources = reservation.get('resources')
    return [str(each['name']) for each in resources] if isinstance(resources, list) else []


def instructions(reservations: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    """Return what one does with the reservations of a lease, each once."""
    listed = [each for one in reservations or () for each in one.get('instructions') or ()]
    return [each for at, each in enumerate(listed) if each not in listed[:at]]


def written(each: Mapping[str, Any], status: str = LeaseStatus.ACTIVE) -> str:
    """Return an instruction as lines that can be copied.

    :param status: of the lease; before its start, the instruction is of no use yet
    """
    early = ', once the lease is active' if status in _EARLY else ''
    return f'{each["title"]}{early}:\n  {each["command"] or each.get("value") or ""}'.rstrip(': \n')


def lines(reservation: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a table about a reservation of a lease."""
    kind = str(reservation['resource_type'])
    status = [str(reservation['status'])] if reservation.get('status') else []
    yield ' '.join([nouns.counted(amount(reservation), kind), *status])
    if reservation.get('id'):
        yield f'  {reservation["id"]}'
    if sizes := ', '.join(_sizes(reservation)):
        yield f'  each {sizes}'
    for field in fields.REQUIREMENTS:
        if wanted := _requirement(reservation.get(field)):
            yield f'  where {wanted}'
    names = resource_names(reservation)
    if names:
        count = reservation.get('resources_count', len(names))
        more = f' and {count - _MOST} more' if count > _MOST else ''
        yield f'  on {", ".join(names[:_MOST])}{more}'
    yield from filter(None, map(_allocated, reservation.get('allocated') or ()))


def _sizes(reservation: Mapping[str, Any]) -> Iterator[str]:
    for key, text in _SIZES.items():
        value = reservation.get(key)
        # The flavor that a reservation makes has its id.
        if value and value != reservation.get('id'):
            yield text.format(value)


def amount(reservation: Mapping[str, Any]) -> str:
    """Return the amount of a reservation, such as ``2`` or ``1-4``; '' if it has none."""
    if reservation.get('amount') is not None:
        return str(reservation['amount'])
    least, most = reservation.get('min'), reservation.get('max')
    if least is None or most is None:
        return ''
    return str(least) if least == most else f'{least}-{most}'


def _requirement(value: Any) -> str:
    if not value:
        return ''
    try:
        requirement = values.parse(value)
    except values.RequirementError:
        return str(value)
    return requirements.write(requirement) if requirement else ''


def _allocated(one: Mapping[str, Any]) -> str:
    """Return what a resource of a declared type gives: amounts, and what operators announce.

    '' is returned if it gives only itself.
    """
    given = [f'{name}={value}' for name, value in sorted((one.get('resources') or {}).items())]
    given += [f'{name}={value}' for name, value in sorted((one.get('properties') or {}).items())]
    return f'  {one["name"]}: {", ".join(given)}' if given else ''
