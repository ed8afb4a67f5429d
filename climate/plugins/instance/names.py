# SPDX-License-Identifier: Apache-2.0

"""The names and the metadata of a reservation of instances in the cloud.

They are part of the contract with Nova's scheduler, and with programs that know
the reservations of Blazar. Nothing here calls the cloud.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from climate.cloud.base import Aggregate
from climate.cloud.base import Flavor
from climate.plugins.host import isolation
from climate.plugins.host.isolation import Isolation

CLASS_PREFIX = 'CUSTOM_RESERVATION_'
# The scheduler filter of Blazar accepts every host for a flavor with this key;
# Nova's filter of the same name accepts the hosts of the aggregate.
RESERVATION_KEY = 'aggregate_instance_extra_specs:reservation'
GROUP_KEY = 'affinity_id'


def name(reservation_id: str) -> str:
    """Return the name of the flavor and of the server group."""
    return f'reservation:{reservation_id}'


def resource_class(reservation_id: str) -> str:
    """Return the resource class that has one unit for each slot."""
    return CLASS_PREFIX + reservation_id.upper().replace('-', '_')


def flavor(template: Flavor, reservation_id: str, group_id: str | None, mode: Isolation) -> Flavor:
    """Return the flavor whose servers use the slots of a reservation.

    :param template: its sizes, and the extra specs of its servers
    :param group_id: the server group of the reservation; None if it has none
    """
    specs = {
        **template.extra_specs,
        RESERVATION_KEY: reservation_id,
        f'resources:{resource_class(reservation_id)}': '1',
        **isolation.of_slots(mode),
    }
    if group_id is not None:
        specs[GROUP_KEY] = group_id
    return dataclasses.replace(
        template, id=reservation_id, name=name(reservation_id), public=False, extra_specs=specs
    )


def aggregate(
    reservation_id: str, project_id: str, group_id: str | None, owner_key: str
) -> Mapping[str, str | None]:
    """Return the metadata that the aggregate should have; None for a key to remove.

    :param owner_key: the key under which the scheduler filter of Blazar finds the owner
    """
    return {
        isolation.SLOTS_KEY: reservation_id,
        isolation.TENANT_KEY: project_id,
        owner_key: project_id,
        GROUP_KEY: group_id,
    }


def changes(found: Aggregate, wanted: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return the changes that the metadata of an aggregate needs."""
    return {key: value for key, value in wanted.items() if found.metadata.get(key) != value}
