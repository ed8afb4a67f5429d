# SPDX-License-Identifier: Apache-2.0

"""How the members of a reservation are placed on resources.

A member is one slot of a reservation: a whole resource, or the units of one slot.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import Final

STORED: Final = '$placement'
"""Key of a placement in the stored request of a reservation; no field can have this name."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class SpreadRule:
    """Members are spread evenly over the values of a property.

    :ivar max_skew: the largest difference between the numbers of members with two values
    """

    property: str
    max_skew: int = 1


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class SharedValue:
    """Members have the same value of a property as those of another reservation."""

    reservation: str
    property: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Preference:
    """Resources with a trait, or with a value of a property, are preferred.

    :ivar name: of the trait or the property
    :ivar value: of the property; None for a trait
    :ivar weight: what a member there is worth
    """

    name: str
    value: str | None = None
    weight: int = 1


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class MemberPlacement:
    """Conditions on where the members of a reservation are, and preferences.

    Other reservations of the lease are named by their ids; in a request that is not
    booked yet, by their places in the list of reservations.

    :ivar same: properties of which all members have the same value
    :ivar apart_from: reservations with which no resource is shared
    """

    same: tuple[str, ...] = ()
    same_as: tuple[SharedValue, ...] = ()
    spread: tuple[SpreadRule, ...] = ()
    apart_from: tuple[str, ...] = ()
    prefer: tuple[Preference, ...] = ()

    @property
    def properties(self) -> frozenset[str]:
        """The properties that the conditions name."""
        return frozenset(
            {
                *self.same,
                *(one.property for one in self.same_as),
                *(one.property for one in self.spread),
            }
        )

    @property
    def others(self) -> frozenset[str]:
        """The other reservations that the conditions name."""
        return frozenset({*self.apart_from, *(one.reservation for one in self.same_as)})

    def renamed(self, name: Callable[[str], str]) -> MemberPlacement:
        """Return the placement with other names of the reservations."""
        return dataclasses.replace(
            self,
            same_as=tuple(
                dataclasses.replace(one, reservation=name(one.reservation)) for one in self.same_as
            ),
            apart_from=tuple(map(name, self.apart_from)),
        )

    def mirrored(self, mine: str, other: str) -> MemberPlacement:
        """Return what these conditions of *mine* mean for a reservation that they name."""
        return MemberPlacement(
            same_as=tuple(
                SharedValue(reservation=mine, property=one.property)
                for one in self.same_as
                if one.reservation == other
            ),
            apart_from=(mine,) if other in self.apart_from else (),
        )

    def with_more(self, more: MemberPlacement) -> MemberPlacement:
        """Return the placement with further conditions on other reservations."""
        return dataclasses.replace(
            self,
            same_as=tuple(dict.fromkeys((*self.same_as, *more.same_as))),
            apart_from=tuple(dict.fromkeys((*self.apart_from, *more.apart_from))),
        )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PlacedMembers:
    """The members of a reservation on one resource.

    :ivar amounts: units by resource class; empty if the resource is taken as a whole
    :ivar properties: those that the placement names
    """

    resource_id: int
    resource_name: str
    amounts: Mapping[str, int] = dataclasses.field(default_factory=dict)
    properties: Mapping[str, str] = dataclasses.field(default_factory=dict)


def dumped(value: MemberPlacement) -> dict[str, Any]:
    """Return a placement as JSON values; what it does not say is left out."""
    values = {
        'same': list(value.same),
        'same_as': [
            {'reservation': one.reservation, 'property': one.property} for one in value.same_as
        ],
        'spread': [{'property': one.property, 'max_skew': one.max_skew} for one in value.spread],
        'apart_from': list(value.apart_from),
        'prefer': [_preference(one) for one in value.prefer],
    }
    return {key: each for key, each in values.items() if each}


def stated(value: MemberPlacement) -> dict[str, Any]:
    """Return the placement of a request as clients send it: reservations have places."""
    values = dumped(value)
    for one in values.get('same_as', ()):
        one['reservation'] = int(one['reservation'])
    if 'apart_from' in values:
        values['apart_from'] = [*map(int, values['apart_from'])]
    return values


def _preference(value: Preference) -> dict[str, Any]:
    if value.value is None:
        return {'trait': value.name, 'weight': value.weight}
    return {'property': value.name, 'value': value.value, 'weight': value.weight}


def loaded(stored: Mapping[str, Any]) -> MemberPlacement:
    """Return the placement that :func:`dumped` wrote, or that a client sent."""
    return MemberPlacement(
        same=tuple(stored.get('same', ())),
        same_as=tuple(
            SharedValue(reservation=str(one['reservation']), property=one['property'])
            for one in stored.get('same_as', ())
        ),
        spread=tuple(
            SpreadRule(property=one['property'], max_skew=one.get('max_skew', 1))
            for one in stored.get('spread', ())
        ),
        apart_from=tuple(map(str, stored.get('apart_from', ()))),
        prefer=tuple(
            Preference(
                name=one.get('trait') or one['property'],
                value=one.get('value'),
                weight=one.get('weight', 1),
            )
            for one in stored.get('prefer', ())
        ),
    )
