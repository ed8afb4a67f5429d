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

"""Offers that can be taken, as JSON."""

from __future__ import annotations

from typing import Any

from climate.api import dates
from climate.api.microversions import Microversion
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
