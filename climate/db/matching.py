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
"""Which resources a search is about, as SQL."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from climate.allocation.requirements import Requirement
from climate.db import models
from climate.db import requirements
from climate.domain.periods import Period

_table = models.Base.metadata.tables['resources']
_inventories = models.Base.metadata.tables['inventories']
_properties = models.Base.metadata.tables['properties']
_maintenances = models.Base.metadata.tables['maintenances']


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """What a resource must be, whoever has it when.

    :ivar required_traits: all of them it must have
    :ivar forbidden_traits: none of them it may have
    :ivar names: it must have one of these names; None for any
    :ivar private: whether values of private properties may be asked for
    """

    resource_type: str
    requirement: Requirement | None = None
    required_traits: Collection[str] = ()
    forbidden_traits: Collection[str] = ()
    names: Collection[str] | None = None
    private: bool = False

    def conditions(self, *, bookable: bool = True) -> list[Any]:
        """Return the conditions on a row of ``resources``.

        :param bookable: only what is open to new bookings
        """
        found: list[Any] = [_table.c.resource_type == self.resource_type, _table.c.deleted == 0]
        if bookable:
            found += [
                _table.c.reservable.is_(True),
                _table.c.disabled.is_(False),
                _table.c.failed_at.is_(None),
            ]
        if self.requirement is not None:
            found.append(requirements.condition(self.requirement, private=self.private))
        found += [_has_trait(name) for name in sorted(self.required_traits)]
        found += [sa.not_(_has_trait(name)) for name in sorted(self.forbidden_traits)]
        if self.names is not None:
            found.append(_table.c.name.in_(self.names))
        return found


def not_out(period: Period) -> Any:
    """Whether a resource is there throughout *period*, not in maintenance.

    ::

        NOT EXISTS (SELECT 1 FROM maintenances m WHERE m.resource_id = r.id
                    AND m.end_date > :start AND m.start_date < :end)
    """
    return ~sa.exists().where(
        _maintenances.c.resource_id == _table.c.id,
        _maintenances.c.end_date > period.start,
        _maintenances.c.start_date < period.end,
    )


def offering(demand: Mapping[str, int]) -> list[Any]:
    """Return the conditions that a resource can give all of *demand* at once, if it is free."""
    return [_offers(name, units) for name, units in used_classes(demand).items()]


def holding(demand: Mapping[str, int]) -> list[Any]:
    """Return the conditions that a resource can give all of *demand* to one who has it alone."""
    return [
        *offering(demand),
        *(
            sa.exists().where(
                _inventories.c.resource_id == _table.c.id,
                _inventories.c.resource_class == name,
                # As domain.resources.Inventory: what is rounded down is enough
                # for a whole number if it is enough before.
                (_inventories.c.total - _inventories.c.reserved) * _inventories.c.allocation_ratio
                >= units,
            )
            for name, units in used_classes(demand).items()
        ),
    ]


def used_classes(demand: Mapping[str, int]) -> dict[str, int]:
    """Return what of a demand asks for anything, in the order of the names."""
    return {name: demand[name] for name in sorted(demand) if demand[name] > 0}


def _offers(name: str, units: int) -> Any:
    query = sa.select(_inventories.c.id).where(
        _inventories.c.resource_id == _table.c.id,
        _inventories.c.resource_class == name,
        _inventories.c.min_unit <= units,
        _inventories.c.max_unit >= units,
        sa.literal(units) % _inventories.c.step_size == 0,
    )
    # It limits nothing, but has PostgreSQL look at each resource in its turn;
    # it would begin with all inventories there are.
    return sa.exists(query.limit(1).offset(0))


def _has_trait(name: str) -> Any:
    return sa.exists().where(
        _properties.c.resource_id == _table.c.id,
        _properties.c.name == name,
        _properties.c.kind == 'trait',
    )
