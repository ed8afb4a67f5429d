# SPDX-License-Identifier: Apache-2.0

"""Moves a start off resources that the cloud has changed, so that leases cannot use them.

The cloud is compared with what is registered once in a while, so a start may be the first
to notice a change. What it has not touched yet is still as good as booked only.
"""

from __future__ import annotations

import dataclasses
import logging
import random

from climate import exceptions
from climate.booking.writing import move as booking_move
from climate.db.resources.shortages import Shortages
from climate.db.transactions.store import Transaction
from climate.domain import events
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.resources import Resource
from climate.leases import notices
from climate.leases.settings import LeasingSettings

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(eq=False, repr=False)
class Rescue:
    """Moves starts on behalf of one manager.

    :param rng: breaks ties between resources to move to
    """

    _plugins: notices.Plugins
    _settings: LeasingSettings
    _rng: random.Random

    def moved(self, tx: Transaction, lease: Lease, event: Event) -> bool:
        """Move a start off unusable resources; return whether anything was moved.

        The start continues in a transaction of its own, because everything that a
        booking locks has to be locked in id order.

        :raises climate.booking.choosing.choose.LostRace: if the caller has to try again
        """
        if event.kind is not EventKind.START:
            return False
        has = tx.allocations.live_of([item.id for item in lease.reservations])
        unusable = _unusable(tx, {item.resource_id for item in has})
        if not unusable:
            return False
        mover = booking_move.Mover(tx, self._plugins, self._settings, self._rng, lease)
        by_id = {item.id: item for item in lease.reservations}
        for reservation_id, number in dict.fromkeys(
            (item.reservation_id, item.resource_id) for item in has if item.resource_id in unusable
        ):
            broken = unusable[number]
            try:
                mover.move(
                    by_id[reservation_id],
                    number,
                    f'{broken.name} cannot be used: {broken.degraded}',
                )
            except (exceptions.NotEnoughResources, exceptions.UnsupportedResourceType) as error:
                LOG.info('Lease %s keeps its resources: %s', lease.id, error.message)
        if not mover.moves:
            return False
        for move in mover.moves:
            LOG.warning('Lease %s: %s, it has %s now', lease.id, move.reason, ', '.join(move.came))
        again = dataclasses.replace(event.untried(), due=tx.now, error=None)
        lease = tx.events.keep(mover.write(lease), again)
        tx.leases.update(dataclasses.replace(lease, next_due=events.next_due(lease.events)))
        return True


def _unusable(tx: Transaction, ids: set[int]) -> dict[int, Resource]:
    """Return the unusable ones of some resources, except those that only lack capacity."""
    broken = {item.id or 0: item for item in tx.resources.with_ids(ids) if item.unusable}
    short = Shortages(tx.session, tx.now).of(broken) if broken else set()
    return {number: item for number, item in broken.items() if number not in short}
