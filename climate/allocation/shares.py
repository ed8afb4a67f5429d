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
"""Slots as allocations, and back: what one share of a resource is in rows.

A slot is a whole resource, which is one allocation without a class, or the
units of a demand: then an allocation for each class, as large as all slots
that the reservation has of the resource.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence

from climate.domain.leases import Allocation
from climate.domain.periods import Period
from climate.domain.resources import Share


def allocations(
    reservation_id: str, shares: Iterable[Share], demand: Mapping[str, int], period: Period
) -> list[Allocation]:
    """Return what has to be written for some shares.

    :param demand: units by resource class of one slot; empty for whole resources
    """
    classes: list[tuple[str | None, int]] = sorted(_wanted(demand).items()) or [(None, 1)]
    return [
        Allocation(
            reservation_id=reservation_id,
            resource_id=share.candidate.resource_id,
            resource_name=share.candidate.name,
            resource_class=name,
            amount=units * share.slots,
            period=period,
        )
        for share in shares
        for name, units in classes
    ]


def slots(current: Iterable[Allocation], demand: Mapping[str, int]) -> dict[int, int]:
    """Return how many slots there are on each resource, by its id.

    :param demand: units by resource class of one slot; empty for whole resources
    """
    wanted = _wanted(demand)
    if not wanted:
        return {item.resource_id: 1 for item in current}
    name = min(wanted)
    units: Counter[int] = Counter()
    for item in current:
        if item.resource_class == name:
            units[item.resource_id] += item.amount
    return {resource_id: amount // wanted[name] for resource_id, amount in units.items()}


def fewer(has: Mapping[int, int], surplus: int) -> dict[int, int]:
    """Return what stays if *surplus* slots go.

    Those on the resources with the fewest go first, so that resources become
    empty; of equals those with the highest id.

    :param has: slots by resource id
    :raises ValueError: if there are fewer than that
    """
    if surplus > sum(has.values()):
        raise ValueError('more is to go than there is')
    left = dict(has)
    for resource_id in sorted(has, key=lambda item: (has[item], -item)):
        goes = min(left[resource_id], surplus)
        left[resource_id] -= goes
        surplus -= goes
    return {resource_id: count for resource_id, count in left.items() if count}


def cut(
    current: Sequence[Allocation], demand: Mapping[str, int], keep: Mapping[int, int]
) -> tuple[tuple[Allocation, ...], tuple[Allocation, ...]]:
    """Divide allocations into what stays and what goes.

    An allocation of several slots may be in both, each time with its part of
    the amount.

    :param keep: slots that stay, by resource id; what is not named goes
    :returns: what stays, what goes
    """
    wanted: dict[str | None, int] = dict(_wanted(demand).items()) or {None: 1}
    stays: list[Allocation] = []
    goes: list[Allocation] = []
    room = {
        (resource_id, name): count * units
        for resource_id, count in keep.items()
        for name, units in wanted.items()
    }
    for item in current:
        key = (item.resource_id, item.resource_class)
        part = min(room.get(key, 0), item.amount)
        if part:
            room[key] -= part
            stays.append(dataclasses.replace(item, amount=part))
        if part < item.amount:
            goes.append(dataclasses.replace(item, amount=item.amount - part))
    return tuple(stays), tuple(goes)


def without(
    current: Iterable[Allocation], gone: Mapping[int, int]
) -> tuple[tuple[Allocation, ...], tuple[Allocation, ...]]:
    """Divide allocations by what is written down of those that go.

    :param gone: amounts by allocation id
    :returns: what stays, what goes
    """
    stays: list[Allocation] = []
    goes: list[Allocation] = []
    for item in current:
        part = min(gone.get(item.id, 0), item.amount) if item.id is not None else 0
        if part < item.amount:
            stays.append(dataclasses.replace(item, amount=item.amount - part))
        if part:
            goes.append(dataclasses.replace(item, amount=part))
    return tuple(stays), tuple(goes)


def total(current: Iterable[Allocation]) -> dict[str | None, int]:
    """Return how much there is of each resource class in all."""
    units: Counter[str | None] = Counter()
    for item in current:
        units[item.resource_class] += item.amount
    return dict(units)


def _wanted(demand: Mapping[str, int]) -> dict[str, int]:
    return {name: units for name, units in demand.items() if units > 0}
