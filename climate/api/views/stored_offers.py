# SPDX-License-Identifier: Apache-2.0

"""Offers that can be taken, as JSON."""

from __future__ import annotations

from typing import Any

from climate.api.http import dates
from climate.api.http.microversions import Microversion
from climate.api.views.offers import offer
from climate.domain.offers import Offer
from climate.domain.offers import StoredOffer
from climate.domain.offers import StoredOfferPage


def page(value: StoredOfferPage, version: Microversion) -> dict[str, Any]:
    """Return a list of offers."""
    return {
        'offers': [stored(one, version) for one in value.offers],
        'searched_until': dates.write(value.searched_until, version),
    }


def stored(value: StoredOffer, version: Microversion) -> dict[str, Any]:
    """Return one offer."""
    return {
        'id': value.id,
        **offer(value.offer, version),
        'expires_at': dates.write(value.expires_at, version),
        'held_until': dates.write(value.held_until, version),
        'lease_id': value.lease_id,
    }


def alternative(value: Offer | StoredOffer, version: Microversion) -> dict[str, Any]:
    """Return an alternative to a request; one that is not stored has no id."""
    return stored(value, version) if isinstance(value, StoredOffer) else offer(value, version)
