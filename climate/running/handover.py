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

"""Handovers: a lease waits until the lease before it has released its resources.

An ordinary handover takes seconds, and causes no notification. A longer one
causes one; after a while the start is moved to other resources, if there are
any; what is not free at the deadline is given up, and the owner notified.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
import random
from collections.abc import Collection

from climate import exceptions
from climate.booking import move as booking_move
from climate.db.handovers import Blocker
from climate.db.store import Transaction
from climate.domain import events
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.enforcement.filters import Filters
from climate.leases import notices
from climate.leases import states
from climate.leases.settings import LeasingSettings
from climate.running import fail

LOG = logging.getLogger(__name__)

_HOLDS = frozenset({EventKind.START, EventKind.UPDATE})
_ENDS = frozenset({EventKind.END, EventKind.DELETE, EventKind.UNDO})
# A preparation may have to wait for days, and is not urgent.
_PATIENT = 240
# A handover in which servers are deleted takes up to this, if all is well.
_ORDINARY = datetime.timedelta(seconds=10)
_NOTHING = datetime.timedelta(0)


class Handover:
    """Decides what becomes of an event whose resources are not there yet.

    :param rng: breaks ties between resources to move to
    """

    def __init__(
        self,
        plugins: notices.Plugins,
        settings: LeasingSettings,
        filters: Filters,
        rng: random.Random,
    ) -> None:
        self._plugins = plugins
        self._settings = settings
        self._filters = filters
        self._rng = rng

    def moved(self, tx: Transaction, lease: Lease, event: Event) -> bool:
        """Move what a start has waited for long enough; say whether anything was.

        It goes on in a transaction of its own, for all that a booking locks is
        locked in id order.

        :raises climate.booking.choose.LostRace: if it is to be tried again
        """
        if event.kind is not EventKind.START or lease.status is not LeaseStatus.PENDING:
            return False
        if event.looked_at(tx.now).tried < self._settings.handover_patience:
            return False
        blockers = self._blockers(tx, [reservation.id for reservation in lease.reservations])
        return bool(blockers) and self._move(tx, lease, event, blockers)

    def pause(self, tx: Transaction, lease: Lease, event: Event) -> Lease:
        """Return the lease with *event*, which is blocked, put off or given up."""
        blockers = self._blockers(tx, [reservation.id for reservation in lease.reservations])
        event = event.looked_at(tx.now)
        why = self._why(lease, blockers)
        held = any(item.released_at is None for item in blockers)
        if event.kind in _HOLDS and held:
            # Not before it could have been moved.
            limit = max(self._settings.effect_deadline, self._settings.handover_patience)
            if event.tried >= limit:
                return self._give_up(tx, lease, event, why)
            event = self._told(tx, lease, event, blockers, why)
        waiting = dataclasses.replace(
            event, due=self._next_look(tx.now, event, blockers), error=f'waiting: {why}'
        )
        return tx.events.keep(lease, waiting)

    def _blockers(self, tx: Transaction, ids: Collection[str]) -> list[Blocker]:
        held = tx.handovers.holders(ids, tx.allocations.crowds(ids))
        cleaning_time = self._settings.cleaning_time
        return held + (tx.handovers.cleaned(ids, cleaning_time) if cleaning_time else [])

    def _next_look(
        self, now: datetime.datetime, event: Event, blockers: list[Blocker]
    ) -> datetime.datetime:
        clean = [item.released_at for item in blockers if item.released_at is not None]
        if blockers and len(clean) == len(blockers):
            left = self._settings.handover_patience - event.tried
            ready = max(clean) + self._settings.cleaning_time
            return ready if left <= _NOTHING else min(ready, now + left)
        # The longer it has waited, the less a look too late matters; many that
        # wait for long must not keep the others from getting on.
        first = self._settings.handover_pause
        longest = first * (_PATIENT if event.kind is EventKind.PREPARE else 8)
        return now + min(max((now - event.time) / 8, first), longest)

    def _give_up(self, tx: Transaction, lease: Lease, event: Event, why: str) -> Lease:
        if event.kind is EventKind.START:
            reason = f'it could not start: {why}, and there is nothing to take its place'
            given_up = fail.start(tx, self._plugins, self._filters, lease, event, reason)
        else:
            reason = f'the change could not be made: {why}'
            given_up = fail.update(tx, self._plugins, lease, event, reason)
        LOG.warning('Lease %s: %s', lease.id, reason)
        states.write(tx, lease, given_up)
        return given_up

    def _told(
        self, tx: Transaction, lease: Lease, event: Event, blockers: list[Blocker], why: str
    ) -> Event:
        """Tell that it takes longer than it should, once for each wait."""
        if event.effect.wait_notified:
            return event
        limit = min(_ORDINARY, self._settings.handover_patience)
        if event.tried < limit and not self._failing(tx, blockers):
            return event
        for item in blockers:
            LOG.warning(
                'Lease %s: %s waits for %s, which lease %s of project %s has not released',
                lease.id,
                event.kind,
                item.resource_name,
                item.lease_id,
                item.project_id,
            )
        event = event.wait_notified()
        told = f'waiting: {why}'
        notices.tell(tx, self._plugins, 'lease.event.error', lease, event=event, reason=told)
        return event

    def _failing(self, tx: Transaction, blockers: list[Blocker]) -> bool:
        """Whether the end of a lease before has failed already."""
        found = tx.events.of_leases({item.lease_id for item in blockers})
        return any(item.kind in _ENDS and item.open and item.attempts for item in found)

    def _why(self, lease: Lease, blockers: list[Blocker]) -> str:
        """Say what is awaited, without what belongs to other projects."""
        lines = []
        for item in blockers:
            name = item.resource_name
            if item.released_at is not None:
                clean = item.released_at + self._settings.cleaning_time
                lines.append(f'{name} is being cleaned until {clean:%H:%M:%S} UTC')
            elif item.project_id == lease.project_id:
                lines.append(f'reservation {item.holder_id} has not given {name} back')
            else:
                lines.append(f'the lease before has not given {name} back')
        return '; '.join(dict.fromkeys(lines)) or 'the lease before has not given everything back'

    # -- another place

    def _move(self, tx: Transaction, lease: Lease, event: Event, blockers: list[Blocker]) -> bool:
        mover = booking_move.Mover(tx, self._plugins, self._settings, self._rng, lease)
        overdue = tx.handovers.overdue()
        by_id = {item.id: item for item in lease.reservations}
        for reservation_id, resource_id in dict.fromkeys(
            (item.reservation_id, item.resource_id) for item in blockers
        ):
            mine = [item for item in blockers if item.resource_id == resource_id]
            try:
                mover.move(
                    by_id[reservation_id], resource_id, self._why(lease, mine), never=overdue
                )
            except (
                exceptions.Conflict,
                exceptions.NotEnoughResources,
                exceptions.UnsupportedResourceType,
            ) as error:
                LOG.info('Lease %s keeps its resources: %s', lease.id, error.message)
        if not mover.moves:
            return False
        for move in mover.moves:
            LOG.warning('Lease %s: %s, it has %s now', lease.id, move.reason, ', '.join(move.came))
        moved = tx.events.keep(mover.write(lease), _afresh(event, tx.now))
        tx.leases.update(dataclasses.replace(moved, next_due=events.next_due(moved.events)))
        return True


def _afresh(event: Event, now: datetime.datetime) -> Event:
    return dataclasses.replace(event.untried(), due=now, error=None)
