# SPDX-License-Identifier: Apache-2.0
"""The event that has the cloud follow a change of an active lease.

It carries all that is needed to undo the change if the cloud refuses it: what was
added, what is to be removed, and the former requests. The lease releases what is to
be removed only when the cloud has followed; until then it has both.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.allocation import shares
from climate.db.transactions.store import Transaction
from climate.domain import drafts
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.payloads import ChangePayload
from climate.domain.payloads import Move
from climate.leases import notices
from climate.leases import reading
from climate.leases import schedule

LOG = logging.getLogger(__name__)


def new_event(
    tx: Transaction,
    lease: Lease,
    known: Iterable[Allocation],
    leaving: Iterable[Allocation],
    before: Mapping[str, Mapping[str, Any]],
    charge_id: str | None = None,
    *,
    moves: tuple[Move, ...] = (),
    forced: bool = False,
) -> Event:
    """Write the event, and return it.

    :param known: the allocations from before the change; all others came with it
    :param leaving: the allocations to remove, each with the amount to remove
    :param before: the former requests of changed reservations, by reservation id
    :param charge_id: of the question by which filters allowed the change
    :param moves: the moves of reservations that the cloud is to follow
    :param forced: whether the cloud may remove what runs on resources that the
        lease leaves
    """
    had = {item.id for item in known}
    ids = [reservation.id for reservation in lease.reservations]
    added: dict[str, list[int]] = {}
    for item in tx.allocations.live_of(ids) if ids else []:
        if item.id is not None and item.id not in had:
            added.setdefault(item.reservation_id, []).append(item.id)
    removed: dict[str, dict[int, int]] = {}
    for item in leaving:
        if item.id is not None:
            removed.setdefault(item.reservation_id, {})[item.id] = item.amount
    event = schedule.new_event(
        lease.id,
        EventKind.UPDATE,
        tx.now,
        payload=ChangePayload(
            added={key: tuple(ids) for key, ids in added.items()},
            removed=removed,
            # Secrets do not change, so they need not be in two places.
            before={key: drafts.hidden(request) for key, request in before.items()},
            charge_id=charge_id,
            moves=moves,
            forced=forced,
        ),
    )
    tx.events.insert([event])
    return event


def before(event: Event, reservation: Reservation) -> Mapping[str, Any]:
    """Return the request of a reservation as it was before the change."""
    old = event.change.before.get(reservation.id) if event.change else None
    return reservation.request if old is None else drafts.restored(old, reservation.request)


def added(event: Event) -> dict[int, int]:
    """Return the ids of added allocations, with amounts that cover each as a whole."""
    rows = event.change.added if event.change else {}
    return {row_id: _ALL for ids in rows.values() for row_id in ids}


def removed(event: Event) -> dict[int, int]:
    """Return the amounts to remove, by allocation id."""
    rows = event.change.removed if event.change else {}
    return {row_id: amount for amounts in rows.values() for row_id, amount in amounts.items()}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class GivenUp:
    """What a lease releases once the cloud has followed.

    :ivar amounts: by allocation id
    :ivar complaints: differences from what was requested, for users
    """

    amounts: dict[int, int]
    complaints: tuple[str, ...] = ()


def given_up(
    tx: Transaction,
    plugins: notices.Plugins,
    lease: Lease,
    gone: dict[int, int],
    kept: Mapping[str, Mapping[int, int]],
) -> GivenUp:
    """Return what to release where effects gave up other slots than requested.

    What the cloud still uses stays booked, and so does what was promised: a
    reservation keeps what an effect kept beyond the request, and the next check
    restores what an effect gave up beyond it.

    :param gone: what the effects had to give up, as of :func:`removed`
    :param kept: slots by resource id that they kept, by reservation id
    """
    result = dict(gone)
    complaints = []
    for reservation in lease.reservations:
        if reservation.id not in kept:
            continue
        current = tx.allocations.live_of([reservation.id])
        mine = {item.id for item in current}
        asked = {key: amount for key, amount in gone.items() if key in mine}
        goes, complaint = _goes(plugins, reservation, current, asked, kept[reservation.id])
        result = {key: amount for key, amount in result.items() if key not in mine} | goes
        if complaint:
            LOG.error('Lease %s: %s', lease.id, complaint)
            complaints.append(complaint)
    return GivenUp(amounts=result, complaints=tuple(complaints))


def _goes(
    plugins: notices.Plugins,
    reservation: Reservation,
    current: list[Allocation],
    asked: Mapping[int, int],
    kept: Mapping[int, int],
) -> tuple[dict[int, int], str]:
    """Return what a reservation gives up, and how that differs from the request."""
    plugin = plugins[reservation.resource_type]
    try:
        demand = plugin.search(reading.load(plugin, reservation)).demand
    except exceptions.Conflict as error:
        return {}, f'nothing was released: {error.message}'
    stays, going = shares.cut(current, demand, kept)
    goes = {item.id: item.amount for item in going if item.id is not None}
    has, promised = shares.total(stays), shares.total(shares.without(current, asked)[0])
    if has == promised:
        return goes, ''
    complaint = f'reservation {reservation.id} keeps {_units(has)} and not {_units(promised)}'
    if all(has.get(name, 0) >= amount for name, amount in promised.items()):
        return goes, complaint
    both = {key: min(amount, asked.get(key, 0)) for key, amount in goes.items()}
    return {key: amount for key, amount in both.items() if amount}, complaint


def _units(amounts: Mapping[str | None, int]) -> str:
    named = sorted((name or 'resources', amount) for name, amount in amounts.items())
    return ', '.join(f'{amount} {name}' for name, amount in named) or 'nothing'


def split(
    events: Iterable[Event], current: Iterable[Allocation]
) -> tuple[tuple[Allocation, ...], tuple[Allocation, ...]]:
    """Divide the allocations of a lease by its changes that are under way.

    :returns: what it is to have, what it is to give up
    """
    gone: dict[int, int] = {}
    for event in events:
        if event.kind is EventKind.UPDATE and event.open:
            gone |= added(event) if event.undoing else removed(event)
    return shares.without(current, gone)


# More than the amount of any allocation.
_ALL = 2**62
