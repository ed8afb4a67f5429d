# SPDX-License-Identifier: Apache-2.0

"""Offers, and rehearsed leases, as JSON."""

from __future__ import annotations

from typing import Any

from climate.api.http import dates
from climate.api.http.microversions import Microversion
from climate.domain import offers


def offer(value: offers.Offer, version: Microversion) -> dict[str, Any]:
    """Return one offer."""
    shown: dict[str, Any] = {
        'start_date': dates.write(value.period.start, version),
        'end_date': dates.write(value.period.end, version),
        'reason': value.kind.value,
        'reservations': [_reservation(one) for one in value.reservations],
        'blocked_before': [shortage(one, version) for one in value.blocked_before],
    }
    if value.requirements:
        shown['requirements'] = [_requirement(one) for one in value.requirements]
    if value.cost is not None:
        shown['cost'] = value.cost
    if value.resources is not None:
        shown['resources'] = value.resources
    return shown


def _requirement(value: offers.PropertyValues) -> dict[str, Any]:
    return {'reservation': value.place, 'property': value.name, 'values': list(value.values)}


def _reservation(value: offers.OfferedReservation) -> dict[str, Any]:
    return {
        'reservation': value.place,
        'resource_type': value.resource_type,
        'amount': value.amount,
        'classes': dict(value.classes),
    }


def shortage(value: offers.Shortage, version: Microversion) -> dict[str, Any]:
    """Return what is missing for a reservation, and until when."""
    return {
        'reservation': value.place,
        'resource_type': value.resource_type,
        'resource_class': value.resource_class,
        'missing': value.missing,
        'until': dates.write(value.until, version),
    }


def extension(value: offers.Extension, version: Microversion) -> dict[str, Any]:
    """Return how far a lease can be extended."""
    return {
        'end_date': dates.write(value.end, version),
        'blocked_by': [shortage(one, version) for one in value.blocked_by],
        'offers': [offer(one, version) for one in value.offers],
        'searched_until': dates.write(value.searched_until, version),
    }
