# SPDX-License-Identifier: Apache-2.0
"""Cinder's pools as resources: their names, properties and capacity."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

from climate import exceptions
from climate.cloud.base import Cloud
from climate.cloud.base import Pool
from climate.cloud.base import VolumeType
from climate.domain.resources import Inventory
from climate.domain.resources import Resource
from climate.plugins.outcomes import Reported

POOL_TYPE = 'physical:storage'
CAPACITY = 'DISK_GB'
"""Placement's resource class for GiB of storage."""

BACKEND, POOL = 'volume_backend_name', 'pool_name'
BACKEND_KEYS = (BACKEND, POOL)
"""The extra specs that bind a volume type to a pool; pools have them as properties."""

ALONE = 'alone'
"""Property of a pool: ``true`` if a type can be bound to this pool alone."""

TOTAL, TYPES = 'total_gb', 'public_types'
COMPARED = (TOTAL, ALONE, TYPES)
"""The properties whose change operators have to know."""


def specs(pool: Pool) -> dict[str, str]:
    """Return the extra specs of a type whose volumes lie in a pool."""
    return {BACKEND: pool.backend_name, POOL: pool.name.rpartition('#')[2]}


def specs_of(resource: Resource) -> dict[str, str]:
    """Return the same extra specs for a registered pool."""
    return {key: str(resource.attributes[key]) for key in BACKEND_KEYS}


def looked_up(cloud: Cloud, name: str, declared: Sequence[Inventory]) -> Resource:
    """Look a pool up in Cinder, and return it as a resource.

    :param declared: the inventories that operators declare; Cinder is asked if empty
    :raises climate.exceptions.NotFound: if Cinder has no such pool
    :raises climate.exceptions.InvalidInput: if its size is unknown
    """
    pools = cloud.volume.list_pools()
    pool = next((item for item in pools if item.name == name), None)
    if pool is None:
        raise exceptions.NotFound(f'Cinder has no storage pool {name}')
    inventories = stocked(declared) or (_inventory(pool),)
    attributes = _attributes(pool, pools, cloud.volume.list_volume_types())
    return Resource(
        resource_type=POOL_TYPE, name=pool.name, inventories=inventories, attributes=attributes
    )


def _attributes(
    pool: Pool, pools: Sequence[Pool], types: Sequence[VolumeType]
) -> dict[str, str | int | None]:
    """Return what Cinder says about a pool, next to its capacity."""
    mine = specs(pool)
    alike = [item for item in pools if specs(item) == mine]
    open_types = [item.name for item in types if item.public and _may_lie(item, mine)]
    size = {} if pool.total_gb is None else {TOTAL: math.floor(pool.total_gb)}
    return {
        **mine,
        'backend': pool.name.partition('#')[0],
        ALONE: 'true' if len(alike) == 1 else 'false',
        TYPES: ', '.join(open_types),
        **size,
    }


def reported(cloud: Cloud, resources: Sequence[Resource]) -> Iterator[Reported]:
    """Yield how Cinder has registered pools now."""
    pools, types = cloud.volume.list_pools(), cloud.volume.list_volume_types()
    present = {pool.name: pool for pool in pools}
    for known in resources:
        pool = present.get(known.name)
        if pool is None:
            yield Reported(known=known, now=known, trouble='Cinder has no such storage pool')
            continue
        attributes = _attributes(pool, pools, types)
        moved = attributes[BACKEND] != known.attributes[BACKEND]
        yield Reported(
            known=known,
            now=dataclasses.replace(
                known, attributes=attributes, inventories=_restocked(known, attributes)
            ),
            trouble=f'its {BACKEND} is {attributes[BACKEND]} now' if moved else '',
        )


def _restocked(
    known: Resource, attributes: Mapping[str, str | int | None]
) -> tuple[Inventory, ...]:
    """Return the inventory of a pool with its present size, unless operators declared it."""
    had, has = known.attributes.get(TOTAL), attributes.get(TOTAL)
    return tuple(
        dataclasses.replace(item, total=has, reserved=min(has, item.reserved))
        if isinstance(has, int) and item.total == had
        else item
        for item in known.inventories
    )


def stocked(declared: Sequence[Inventory]) -> tuple[Inventory, ...]:
    """Return the inventories that operators declare for a pool.

    :raises climate.exceptions.MalformedParameter: if they are not a single one, of GiB
    """
    if [item.resource_class for item in declared] not in ([], [CAPACITY]):
        raise exceptions.MalformedParameter.of(
            'inventories', f'a storage pool has one class, {CAPACITY}'
        )
    return tuple(declared)


def _inventory(pool: Pool) -> Inventory:
    """Return the capacity of a pool in GiB; what is allocated already is reserved.

    :raises climate.exceptions.InvalidInput: if Cinder does not know the capacity
    """
    if pool.total_gb is None:
        raise exceptions.InvalidInput(
            f'Missing parameter inventories: Cinder does not know how large {pool.name} is; '
            f'say how much {CAPACITY} it has'
        )
    total = math.floor(pool.total_gb)
    return Inventory(
        resource_class=CAPACITY, total=total, reserved=min(total, math.ceil(pool.allocated_gb))
    )


def _may_lie(volume_type: VolumeType, pool: Mapping[str, str]) -> bool:
    """Whether Cinder may create volumes of a type in a pool."""
    return all(volume_type.extra_specs.get(key) in (None, value) for key, value in pool.items())
