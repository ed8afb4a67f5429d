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

"""What a reservation holds, and what a person does with it, as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from typing import Final

from climate.api.microversions import Microversion
from climate.api.microversions import V1_7
from climate.domain.holdings import HeldResource
from climate.domain.leases import Reservation
from climate.leases import reading
from climate.leases.reading import Describer
from climate.plugins.instructions import Instruction

_RESOURCES: Final = 'resources'
_UNITS: Final = 'units'


def own(describer: Describer, value: Reservation, version: Microversion) -> dict[str, Any]:
    """Return the keys that only the type of a reservation has.

    The units of a slot of a declared type, ``resources`` in requests, are ``units`` from
    microversion 1.7 on, where ``resources`` are those that the reservation holds.
    """
    found = reading.describe(describer, value)
    if version < V1_7 or _RESOURCES not in found:
        return found
    return {_UNITS if key == _RESOURCES else key: part for key, part in found.items()}


def holding(
    value: Reservation, describer: Describer | None, *, named: bool = True
) -> dict[str, Any]:
    """Return the keys of what a reservation holds; none if that is not to be shown.

    :param describer: the plugin of its type; None if the type is no longer served
    :param named: whether the caller may see the resources
    """
    if value.holding is None:
        return {}
    resources: tuple[HeldResource, ...] = value.holding.resources if named else ()
    found: Sequence[Instruction] = ()
    if describer:
        held = value.holding._replace(resources=resources)
        found = reading.instructions(describer, value, held)
    return {
        'resources': [{'id': str(one.id), 'name': one.name} for one in resources],
        'resources_count': value.holding.number,
        'instructions': [instruction(one) for one in found],
    }


def instruction(value: Instruction) -> dict[str, Any]:
    """Return one instruction."""
    return {
        'name': value.name,
        'title': value.title,
        'command': value.command,
        'value': value.value,
    }
