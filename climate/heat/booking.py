# SPDX-License-Identifier: Apache-2.0

"""Books a lease as a template describes it."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import Final

from openstack import exceptions

from climate.client import times
from climate.client.sdk import errors
from climate.client.sdk.leases import Lease
from climate.client.sdk.proxy import ReservationProxy
from climate.heat import bodies

# Others may take what was offered; then there is another offer.
_ATTEMPTS: Final = 5
# Each takes up to a second or more, in which Heat does nothing else for the stack.
_MOST_SEARCHES: Final = 20


class NoOffer(exceptions.SDKException):
    """There is no period in which the lease is possible."""


def book(
    proxy: ReservationProxy, properties: Mapping[str, Any], now: Callable[[], datetime.datetime]
) -> Lease:
    """Book a lease of the given period or window, or else the best offer.

    :param properties: as in the template, with a name
    :param now: returns the present instant, in aware UTC
    :raises climate.client.sdk.errors.RefusedRequest: if the service refuses it
    :raises NoOffer: if there is no offer
    """
    if not bodies.by_offer(properties):
        return proxy.create_lease(**bodies.lease(properties))
    refusal: errors.RefusedRequest | None = None
    if bodies.starts_now(properties, now()):
        try:
            return proxy.create_lease(**bodies.lease(properties))
        except errors.ConflictRefusal as error:
            refusal = error
    for _ in range(_ATTEMPTS):
        try:
            return _take(proxy, properties, now())
        except (errors.NotFoundRefusal, errors.ConflictRefusal) as error:
            refusal = error
        except NoOffer as error:
            raise error from refusal
    assert refusal is not None
    raise refusal


def _take(proxy: ReservationProxy, properties: Mapping[str, Any], now: datetime.datetime) -> Lease:
    query = bodies.search(properties, now)
    for _ in range(_MOST_SEARCHES):
        offers, reached = proxy.offer_page(**query)
        if offers:
            return proxy.create_lease(offer_id=offers[0].id, **bodies.common(properties))
        if bodies.is_searched(query, reached):
            break
        # The service ends a long search early.
        query['earliest'] = reached
    until = times.write(query['latest'], datetime.UTC)
    raise NoOffer(f'There is no offer of {properties[bodies.DURATION]} until {until}')


def names_by_reservation(proxy: ReservationProxy, lease_id: str) -> dict[str, list[str]]:
    """Return the sorted names of the resources of each reservation of a lease, by its id."""
    by_reservation: dict[str, list[str]] = {}
    for each in proxy.allocations(lease_id=lease_id):
        for item in each.reservations:
            names = by_reservation.setdefault(item['id'], [])
            if each.resource_name and each.resource_name not in names:
                names.append(each.resource_name)
    return {key: sorted(names) for key, names in by_reservation.items()}
