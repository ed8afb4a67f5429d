# SPDX-License-Identifier: Apache-2.0

"""Decides whether a booted server already belongs to a lease.

Users control metadata and scheduler hints, so these count only if the leases of the
project confirm them.
"""

from __future__ import annotations

import enum
import uuid
from collections.abc import Mapping
from typing import Final

from climate.cloud.base import Server
from climate.db.transactions.store import Transaction
from climate.domain import booting
from climate.domain.leases import AllocationState
from climate.domain.leases import Lease
from climate.plugins.server.facts import ServerFacts
from climate.plugins.server.plugin import VirtualServer

_SERVERS: Final = VirtualServer.resource_type
_LEASES = uuid.UUID('0f6f2d0c-8c1b-4a57-9f1e-3f6a5c0f6b1d')
_HINT: Final = 'reservation'


class Tie(enum.Enum):
    """Whether a server belongs to a lease; ``UNSURE`` while a lease is being started."""

    YES = 'yes'
    NO = 'no'
    UNSURE = 'unsure'


def lease_id(server_id: str, *, again: bool = False) -> str:
    """Return the id of the lease that a server gets because it was booted.

    All managers compute the same id, so that none of them books a second lease.

    :param again: the id of the lease that replaces one that was deleted before its start
    """
    return str(uuid.uuid5(_LEASES, f'{server_id} again' if again else server_id))


def has_given_up(tx: Transaction, server_id: str) -> bool:
    """Whether the first lease of a server was deleted before it started."""
    return tx.leases.given_up(lease_id(server_id))


def tie(tx: Transaction, server: Server) -> Tie:
    """Return whether a server has or had a lease, or was booted by one."""
    first, second = lease_id(server.id), lease_id(server.id, again=True)
    if tx.leases.project_of(first if not tx.leases.given_up(first) else second) is not None:
        return Tie.YES
    said = server.metadata.get(booting.LEASE_ID, '')
    if said and said in tx.leases.ids_with(_SERVERS, server.id):
        return Tie.YES
    return _made_by(tx, server, server.metadata.get(booting.RESERVATION, ''))


def _made_by(tx: Transaction, server: Server, reservation_id: str) -> Tie:
    """Return whether a reservation of a new server has booted this one."""
    lease = _lease(tx, server, reservation_id)
    if lease is None:
        return Tie.NO
    (mine,) = (item for item in lease.reservations if item.id == reservation_id)
    if mine.resource_type != _SERVERS or not mine.request.get('draft'):
        return Tie.NO
    booted = ServerFacts.of(mine).server_id
    if booted is not None:
        return Tie.YES if booted == server.id else Tie.NO
    # Nova may notify before the manager that booted the server has stored its id.
    starts = lease.next_due is not None and lease.period.start <= tx.now < lease.period.end
    return Tie.UNSURE if starts else Tie.NO


def has_room(tx: Transaction, server: Server, hints: Mapping[str, object]) -> bool:
    """Whether a server uses resources that a lease of its project has reserved.

    Either its flavor is that of a reservation, which only its project can use, or it
    runs on a host of the reservation that its scheduler hint names.
    """
    if tx.reservations.exists(server.flavor_id):
        return True
    hint = hints.get(_HINT)
    if isinstance(hint, list) and len(hint) == 1:
        # Nova keeps each hint as a list of texts.
        hint = hint[0]
    return _lease(tx, server, hint) is not None and any(
        item.state is AllocationState.HELD and item.resource_name == server.hypervisor_hostname
        for item in tx.allocations.live_of([str(hint)])
        if item.resource_class is None
    )


def _lease(tx: Transaction, server: Server, reservation_id: object) -> Lease | None:
    """Return the lease of a reservation; None if it is not of the project of the server."""
    try:
        known = str(uuid.UUID(str(reservation_id)))
    except ValueError:
        return None
    lease = tx.leases.with_reservation(known) if known == reservation_id else None
    return lease if lease is not None and lease.project_id == server.project_id else None
