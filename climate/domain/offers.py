# SPDX-License-Identifier: Apache-2.0

"""Offers: periods in which a request for a lease can be booked."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from collections.abc import Mapping
from typing import Any

from climate.domain.periods import Period
from climate.domain.placements import MemberPlacement


class OfferKind(enum.StrEnum):
    """Why a period is offered.

    ``soonest``: no earlier start is free; ``next``: the first free start after the
    previous offer; ``most``: as much as there is at the requested time; ``longest``: as
    long as possible from the requested start; ``other_property``: resources with another
    value of a property; ``extended``: a lease with a later end, and the resources that it
    has; ``replaced``: likewise, with other resources; ``following``: a lease of the same
    that begins when another ends; ``displacing``: the earliest start, at which
    nothing is free unless flexible leases move; ``cheapest``, ``fewest_resources``,
    ``same``: the best by what the caller prefers.
    """

    SOONEST = 'soonest'
    NEXT = 'next'
    MOST = 'most'
    LONGEST = 'longest'
    OTHER_PROPERTY = 'other_property'
    EXTENDED = 'extended'
    REPLACED = 'replaced'
    FOLLOWING = 'following'
    DISPLACING = 'displacing'
    CHEAPEST = 'cheapest'
    FEWEST_RESOURCES = 'fewest_resources'
    SAME = 'same'


class OfferPreference(enum.StrEnum):
    """What a caller prefers among periods.

    ``same``: that all resources have the same value of a property.
    """

    SOONEST = 'soonest'
    CHEAPEST = 'cheapest'
    FEWEST_RESOURCES = 'fewest_resources'
    SAME = 'same'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class OfferQuery:
    """A request for offers.

    :ivar stated: the bodies of the reservations as received, to be stored with the offers
    :ivar reservations: these without their placements
    :ivar placements: of the reservations, as in a lease
    :ivar duration: of the lease
    :ivar extended: whether the lease may be longer: each offer is as long as possible
    :ivar earliest: the first start (aware UTC)
    :ivar latest: the last end (aware UTC), at least *duration* after the first start
    :ivar limit: the largest number of offers
    :ivar prefer: the order of the offers
    :ivar same: the property whose value all resources should share; '' for none
    :ivar traits: whether requirements may name traits (1.5)
    :ivar displacing: whether offers may displace flexible leases (1.8)
    :ivar asked_at: the instant of the request (aware UTC)
    :ivar hold: how long to hold the first offer; None for not at all
    """

    stated: tuple[Mapping[str, Any], ...]
    reservations: tuple[Mapping[str, Any], ...]
    placements: tuple[MemberPlacement | None, ...] = ()
    duration: datetime.timedelta
    extended: bool = False
    earliest: datetime.datetime
    latest: datetime.datetime
    limit: int
    traits: bool = True
    displacing: bool = False
    asked_at: datetime.datetime
    hold: datetime.timedelta | None = None
    prefer: OfferPreference = OfferPreference.SOONEST
    same: str = ''


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class OfferedReservation:
    """What a reservation would get.

    :ivar place: of the requested reservation that it is, or is a part of
    :ivar amount: the number of slots, such as hosts or instances
    :ivar classes: units by resource class; empty for whole resources
    """

    place: int
    resource_type: str
    amount: int
    classes: Mapping[str, int] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Shortage:
    """What is missing for a request at an earlier time, without whose bookings they are.

    :ivar place: of the requested reservation that it is missing for
    :ivar resource_type: of the resources
    :ivar resource_class: None if whole resources are missing, or room for slots of
        several classes
    :ivar missing: units of the class, or slots
    :ivar until: the first start from which on they are there; None if unknown
    """

    place: int
    resource_type: str
    resource_class: str | None
    missing: int
    until: datetime.datetime | None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PropertyValues:
    """Values of a property, each of which a reservation can require.

    :ivar place: of the requested reservation
    :ivar name: of the property
    """

    place: int
    name: str
    values: tuple[str, ...]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """A period in which a request can be booked.

    :ivar requirements: what reservations have to require for this offer, instead of what
        they compare the same property with
    :ivar blocked_before: what is missing at the first start that was considered; empty
        if that is the start of the offer
    :ivar cost: by the prices of the operator; None if not asked for
    :ivar resources: how many it would use; None if not asked for
    :ivar displaced: how many flexible leases would move
    """

    period: Period
    reservations: tuple[OfferedReservation, ...]
    kind: OfferKind
    blocked_before: tuple[Shortage, ...] = ()
    requirements: tuple[PropertyValues, ...] = ()
    cost: float | None = None
    resources: int | None = None
    displaced: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class OfferPage:
    """The offers for a request, the best first.

    :ivar searched_until: no start before this is missing in the list
    """

    offers: tuple[Offer, ...]
    searched_until: datetime.datetime


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Extension:
    """How far a lease can be extended.

    :ivar end: the last end with the resources that the lease has
    :ivar blocked_by: what is missing after that; empty if no booking is in the way
    :ivar searched_until: the last end that was considered
    """

    end: datetime.datetime
    blocked_by: tuple[Shortage, ...]
    offers: tuple[Offer, ...]
    searched_until: datetime.datetime


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StoredOffer:
    """An offer that its project can take for a while.

    :ivar reservations: the bodies as received, like those of a lease
    :ivar expires_at: when it can no longer be taken (aware UTC)
    :ivar held_until: until when other requests cannot book its resources (aware UTC); None if
        they are not held
    :ivar lease_id: of the lease that has taken it; None if none has
    """

    id: str
    project_id: str
    user_id: str
    offer: Offer
    reservations: tuple[Mapping[str, Any], ...]
    created_at: datetime.datetime
    expires_at: datetime.datetime
    held_until: datetime.datetime | None = None
    lease_id: str | None = None

    def is_held(self, now: datetime.datetime) -> bool:
        """Whether its resources are held at an instant (aware UTC)."""
        return self.held_until is not None and now < self.held_until


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StoredOfferPage:
    """The stored offers for a request, in the order of their starts.

    :ivar searched_until: as in :class:`OfferPage`
    """

    offers: tuple[StoredOffer, ...]
    searched_until: datetime.datetime
