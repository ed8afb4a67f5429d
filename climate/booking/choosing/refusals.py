# SPDX-License-Identifier: Apache-2.0
"""Refusals of requests that cannot be met, with the reasons for users."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Final

from climate import exceptions
from climate.allocation import requirements
from climate.booking.choosing.requirements import Reasons
from climate.booking.choosing.requirements import Requirements
from climate.db.transactions.store import Transaction
from climate.domain.nouns import of_plural

_MOST_NAMES: Final = 20


def refusal(
    tx: Transaction, needed: Requirements, reasons: Reasons
) -> exceptions.NotEnoughResources:
    """Return the refusal of a request, with the reasons.

    It names no end to wait for if there would be too little without any booking.
    """
    error = exceptions.NotEnoughResources(
        needed.search.noun,
        matched=reasons.matched,
        free=reasons.free,
        first_blocker_ends=reasons.first_end if reasons.matched >= needed.search.minimum else None,
        too_large=reasons.too_large,
        unplaced=needed.placement is not None and reasons.free >= needed.minimum,
    )
    error.demanded = demanded(needed)
    error.missing = max(needed.minimum - reasons.free, 0)
    if reasons.matched < needed.search.minimum:
        error.detail = _unknown_property(tx, needed)
    return error


def _unknown_property(tx: Transaction, needed: Requirements) -> str:
    """Name a property that no resource has; '' if some resource has each that is required.

    A private property is as unknown to others as one that no resource has.
    """
    wanted = requirements.keys(needed.search.requirement)
    if not wanted:
        return ''
    resource_type, private = needed.search.resource_type, needed.private
    unknown = tx.property_values.unknown(resource_type, wanted, private=private)
    if not unknown:
        return ''
    known = tx.property_values.names(resource_type, _MOST_NAMES + 1, private=private)
    noun = of_plural(needed.search.noun.removeprefix('GiB of ')).one
    there = ', '.join([*known[:_MOST_NAMES], *(['…'] if len(known) > _MOST_NAMES else [])])
    return f'No {noun} has the property {unknown[0]}; there are {there or "none"}'


def demanded(needed: Requirements) -> dict[str | None, int]:
    """Return the least that requirements need, in units multiplied by seconds, by class."""
    seconds = round(needed.minimum * needed.period.length.total_seconds())
    if not needed.search.demand:
        return {None: seconds}
    return {name: units * seconds for name, units in needed.search.demand.items() if units > 0}


@contextlib.contextmanager
def naming(resource_types: Sequence[str], place: int) -> Iterator[None]:
    """Have a refusal name the reservation of a lease that cannot be booked.

    If there is only one, the text stays as clients know it.

    :param resource_types: of the reservations of the lease
    """
    try:
        yield
    except exceptions.NotEnoughResources as error:
        error.resource_type = resource_types[place]
        if len(resource_types) > 1:
            error.place = place
        raise
