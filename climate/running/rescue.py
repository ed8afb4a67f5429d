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

"""Moves a start off resources that the cloud has changed, so that leases cannot use them.

The cloud is compared with what is registered once in a while, so a start may be the first
to notice a change. What it has not touched yet is still as good as booked only.
"""

from __future__ import annotations

import dataclasses
import logging
import random

from climate import exceptions
from climate.booking import move as booking_move
from climate.db.shortages import Shortages
from climate.db.store import Transaction
from climate.domain import events
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.resources import Resource
from climate.leases import notices
from climate.leases.settings import LeasingSettings

LOG = logging.getLogger(__name__)


class Rescue:
    """Moves starts on behalf of one manager.

    :param rng: breaks ties between resources to move to
    """

    def __init__(
        self, plugins: notices.Plugins, settings: LeasingSettings, rng: random.Random
    ) -> None:
        self._plugins = plugins
        self._settings = settings
        self._rng = rng

    def moved(self, tx: Transaction, lease: Lease, event: Event) -> bool:
        """Move a start off unusable resources; return whether anything was moved.

        The start continues in a transaction of its own, because everything that a
        booking locks has to be locked in id order.

        :raises climate.booking.choose.LostRace: if the caller has to try again
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
            found = unusable[number]
            try:
                mover.move(
                    by_id[reservation_id], number, f'{found.name} cannot be used: {found.degraded}'
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
    found = {item.id or 0: item for item in tx.resources.with_ids(ids) if item.unusable}
    short = Shortages(tx.session, tx.now).of(found) if found else set()
    return {number: item for number, item in found.items() if number not in short}
