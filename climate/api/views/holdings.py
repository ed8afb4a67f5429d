# SPDX-License-Identifier: Apache-2.0

"""What a reservation holds, and what a person does with it, as JSON."""

from __future__ import annotations

from typing import Any
from typing import Final

from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_7
from climate.domain.copies import picked
from climate.domain.holdings import Holding
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
    fields = reading.describe(describer, value)
    if version < V1_7 or _RESOURCES not in fields:
        return fields
    return {_UNITS if key == _RESOURCES else key: part for key, part in fields.items()}


def resources(value: Holding, *, named: bool) -> list[dict[str, str]]:
    """Return the resources that a reservation holds.

    :param named: whether the caller may see them
    """
    shown = value.resources if named else ()
    return [{'id': str(one.id), 'name': one.name} for one in shown]


def instructions(
    value: Reservation, describer: Describer | None, *, named: bool
) -> list[dict[str, Any]]:
    """Return what a person does with a reservation that is shown with what it holds.

    :param describer: the plugin of its type; None if the type is no longer served
    :param named: whether the caller may see the resources
    """
    if describer is None or value.holding is None:
        return []
    held = value.holding if named else value.holding._replace(resources=())
    return [instruction(one) for one in reading.instructions(describer, value, held)]


def instruction(value: Instruction) -> dict[str, Any]:
    """Return one instruction."""
    return picked(value, 'name', 'title', 'command', 'value')
