# SPDX-License-Identifier: Apache-2.0

"""Reads what a change requests of each reservation of a lease."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from climate import exceptions
from climate.booking.requests import requests
from climate.db.transactions.store import Transaction
from climate.domain.budgets import RequestBudget
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.lifecycles import LeaseStatus
from climate.domain.requests import LeaseChange
from climate.domain.requests import UNSET
from climate.leases import dates
from climate.leases import reading
from climate.leases.notices import Plugins
from climate.plugins import contract


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ReservationUpdate:
    """What a change requests of one reservation.

    :ivar place: of the reservation in the lease
    :ivar before: the present request
    :ivar request: the new one, before it is inspected in the cloud
    """

    place: int
    reservation: Reservation
    plugin: contract.Plugin[Any]
    before: Any
    request: Any


def read(
    plugins: Plugins, lease: Lease, change: LeaseChange, budget: RequestBudget
) -> Sequence[ReservationUpdate]:
    """Return what a change requests of each reservation of a lease.

    :param budget: what is left for the request
    :raises climate.exceptions.InvalidInput: naming the field that is wrong
    :raises climate.exceptions.RequirementsTooSlow: if it has more conditions than are allowed
    """
    found = list(_read(plugins, lease, change))
    if change.reservations:
        before = _conditions((one.plugin, one.before) for one in found)
        after = _conditions((one.plugin, one.request) for one in found)
        # A lease of an earlier release may have more, as long as they do not become more.
        if after > before:
            requests.check_conditions(budget, after)
    return found


def _conditions(asked: Iterable[tuple[contract.Plugin[Any], Any]]) -> int:
    """Return how many conditions some requests have together."""
    return sum(requests.conditions_of(plugin, plugin.dump(request)) for plugin, request in asked)


def _read(plugins: Plugins, lease: Lease, change: LeaseChange) -> Iterator[ReservationUpdate]:
    bodies = _bodies(lease, change)
    for place, reservation in enumerate(lease.reservations):
        plugin = requests.plugin_of(plugins, reservation.resource_type)
        before = reading.load(plugin, reservation)
        body = bodies.get(reservation.id)
        request = before
        if body is not None:
            request = _changed(change, lease, plugin, reservation, before, body)
        yield ReservationUpdate(
            place=place, reservation=reservation, plugin=plugin, before=before, request=request
        )


def locked(tx: Transaction, lease_id: str, project_id: str | None, change: LeaseChange) -> Lease:
    """Lock a lease, and return it if it is as the caller of a change requires.

    :param project_id: None looks in every project
    """
    found = tx.leases.get(lease_id, project_id, lock=True)
    if change.check is not None:
        change.check(tx.holdings.added(found))
    return found


def check_state(lease: Lease, change: LeaseChange) -> None:
    """Check that a lease can be changed.

    :raises climate.exceptions.ClimateError: if it cannot
    """
    if lease.status is LeaseStatus.DELETING:
        raise exceptions.InvalidState(state=lease.status, id=lease.id)
    if dates.only_details(change):
        return
    if lease.status is LeaseStatus.TERMINATED:
        raise exceptions.InvalidInput('Terminated leases can only be renamed')
    waits = change.window.wait_until is not UNSET
    if waits or lease.status not in (LeaseStatus.PENDING, LeaseStatus.ACTIVE):
        raise exceptions.InvalidState(state=lease.status, id=lease.id)


def _bodies(lease: Lease, change: LeaseChange) -> Mapping[str, Mapping[str, Any]]:
    """Return the changes by reservation id."""
    bodies: dict[str, Mapping[str, Any]] = {}
    known = {reservation.id for reservation in lease.reservations}
    for one in change.reservations:
        if not one.id:
            raise exceptions.MissingParameter('Missing parameter reservation ID')
        bodies[one.id] = one.body
    unknown = sorted(set(bodies) - known)
    if unknown:
        raise exceptions.InvalidInput(
            'Please enter valid reservation IDs. Invalid reservation IDs are: ' + ', '.join(unknown)
        )
    return bodies


def _changed(
    change: LeaseChange,
    lease: Lease,
    plugin: contract.Plugin[Any],
    reservation: Reservation,
    before: Any,
    body: Mapping[str, Any],
) -> Any:
    if reservation.part_of is not None:
        raise exceptions.InvalidInput(
            f'Reservation {reservation.id} is a part of reservation {reservation.part_of} '
            'and changes with the dates of the lease only'
        )
    resource_type = body.get('resource_type')
    if resource_type is not None and resource_type != plugin.resource_type:
        raise exceptions.CantUpdateParameter(param='resource_type')
    running = lease.status is LeaseStatus.ACTIVE
    if not change.traits:
        requests.refuse_traits(plugin, body, plugin.dump(before))
    return plugin.change(before, body, strict=change.strict, running=running)
