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

"""Finds offers for a request, in the order that the caller prefers; writes nothing."""

from __future__ import annotations

from climate.booking import offers
from climate.booking import preferences
from climate.booking import same_property
from climate.booking.context import Context
from climate.booking.create import NewLease
from climate.domain.offers import OfferPage
from climate.domain.offers import OfferPreference
from climate.domain.offers import OfferQuery


def find(context: Context, new: NewLease, request: OfferQuery) -> OfferPage:
    """Return periods in which a request can be booked.

    :param new: the lease that is requested
    :raises climate.exceptions.InvalidInput: naming the field that is wrong
    :raises climate.exceptions.LeaseRefused: if a limit or a filter forbids every one
    """
    with offers.searching(context, new) as search:
        match request.prefer:
            case OfferPreference.SOONEST:
                return search.offers(request)
            case OfferPreference.SAME:
                return same_property.find(search, request)
            case _:
                return preferences.find(search, request)
