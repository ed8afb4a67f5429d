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

"""What a reservation of instances is called in the cloud, and marked with.

These words are part of the contract with Nova's scheduler, and with programs
that know reservations of Blazar. Nothing here calls the cloud.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from climate.clients.base import Aggregate
from climate.clients.base import Flavor
from climate.plugins.host import isolation
from climate.plugins.host.isolation import Isolation

CLASS_PREFIX = 'CUSTOM_RESERVATION_'
# A flavor with this key is let onto every host by the scheduler filter of
# Blazar, and by Nova's own of that name onto those of the aggregate.
RESERVATION_KEY = 'aggregate_instance_extra_specs:reservation'
GROUP_KEY = 'affinity_id'


def name(reservation_id: str) -> str:
    """Return what the flavor and the server group are called."""
    return f'reservation:{reservation_id}'


def resource_class(reservation_id: str) -> str:
    """Return the class of which there is one unit for each slot."""
    return CLASS_PREFIX + reservation_id.upper().replace('-', '_')


def flavor(template: Flavor, reservation_id: str, group_id: str | None, mode: Isolation) -> Flavor:
    """Return the flavor by which the slots of a reservation are used.

    :param template: its sizes, and what else a server of it needs
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
    """Return the metadata that the aggregate should have; None for what it should not.

    :param owner_key: where the scheduler filter of Blazar looks for the owner
    """
    return {
        isolation.SLOTS_KEY: reservation_id,
        isolation.TENANT_KEY: project_id,
        owner_key: project_id,
        GROUP_KEY: group_id,
    }


def changes(found: Aggregate, wanted: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return what has to change of the metadata of an aggregate."""
    return {key: value for key, value in wanted.items() if found.metadata.get(key) != value}
