# SPDX-License-Identifier: Apache-2.0

"""Writes notifications into the outbox, in the transaction that they report."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from climate.db.transactions.store import Transaction
from climate.domain import nouns
from climate.domain.events import Event
from climate.domain.holdings import Holding
from climate.domain.leases import Lease
from climate.leases import reading
from climate.messaging import payloads
from climate.messaging import schemas
from climate.plugins.contract import Plugin

Plugins = Mapping[str, Plugin[Any]]


def descriptions(lease: Lease, plugins: Plugins) -> dict[str, dict[str, Any]]:
    """Return how plugins describe the reservations of a lease, by reservation id."""
    return {
        reservation.id: reading.describe(plugins[reservation.resource_type], reservation)
        for reservation in lease.reservations
        if reservation.resource_type in plugins
    }


def holdings(tx: Transaction, lease: Lease, plugins: Plugins) -> dict[str, dict[str, Any]]:
    """Return what the reservations of a lease hold, and how to use it, by reservation id."""
    by_reservation = {}
    for one in tx.holdings.added(lease).reservations:
        plugin, held = plugins.get(one.resource_type), one.holding or Holding()
        uses = reading.instructions(plugin, one, held) if plugin else ()
        words = plugin.nouns if plugin else nouns.RESOURCES
        by_reservation[one.id] = payloads.holding(
            one, words, held, [dataclasses.asdict(use) for use in uses]
        )
    return by_reservation


def notify(
    tx: Transaction,
    plugins: Plugins,
    event_type: str,
    lease: Lease,
    *,
    event: Event | None = None,
    **details: Any,
) -> None:
    """Have a manager send a notification once the transaction is committed."""
    payload = payloads.build(
        event_type,
        lease,
        now=tx.now,
        event=event,
        descriptions=descriptions(lease, plugins),
        held=holdings(tx, lease, plugins) if event_type in schemas.HELD else {},
        **details,
    )
    tx.outbox.post(
        event_type, lease.id, payload, priority=payloads.priority(event_type), origin=lease.origin
    )
