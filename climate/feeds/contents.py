# SPDX-License-Identifier: Apache-2.0

"""What the leases in a calendar hold, in words."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

from climate.db.transactions.store import Transaction
from climate.domain import nouns
from climate.domain import wording
from climate.domain.feeds import CalendarEntry
from climate.domain.holdings import Holding
from climate.domain.leases import Reservation
from climate.leases import reading
from climate.plugins.contract import Plugin

Plugins = Mapping[str, Plugin[Any]]

# A calendar entry is no manual; mails and the page have all.
_MOST_USES: Final = 3


def described(
    tx: Transaction, plugins: Plugins, entries: Sequence[CalendarEntry]
) -> list[CalendarEntry]:
    """Return entries with what their leases hold; leases of other projects without it."""
    reservations = tx.reservations.of_leases([one.lease_id for one in entries if one.lease_id])
    holdings = tx.holdings.first([one.id for one in reservations], wording.MOST_NAMED)
    lines: defaultdict[str, list[str]] = defaultdict(list)
    for one in reservations:
        # The room for a server is part of the server.
        if one.part_of is None:
            lines[one.lease_id] += _lines(plugins.get(one.resource_type), one, holdings)
    return [
        dataclasses.replace(one, held=tuple(lines[one.lease_id])) if one.lease_id else one
        for one in entries
    ]


def _lines(
    plugin: Plugin[Any] | None, reservation: Reservation, holdings: Mapping[str, Holding]
) -> Iterator[str]:
    held = holdings.get(reservation.id, Holding())
    words = plugin.nouns if plugin else nouns.RESOURCES
    request = reading.describe(plugin, reservation) if plugin else {}
    names = [one.name for one in held.resources]
    phrase = wording.phrase(request, words.one, words.many, names, held.number)
    yield f'{phrase} (reservation {reservation.id})'
    if plugin is not None:
        for use in reading.instructions(plugin, reservation, held)[:_MOST_USES]:
            yield f'{use.title}: {use.command or use.value}'
