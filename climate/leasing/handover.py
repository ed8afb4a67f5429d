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

"""What a lease waits for that is to have what another one has not given back.

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
from climate.db.handovers import Blocker
from climate.db.store import Transaction
from climate.domain import events
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.enforcement.gate import Gate
from climate.leasing import failing
from climate.leasing import following
from climate.leasing import moving
from climate.leasing import notices
from climate.leasing import patience
from climate.leasing import states
from climate.leasing.settings import LeasingSettings

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
        gate: Gate,
        rng: random.Random,
    ) -> None:
        self._plugins = plugins
        self._settings = settings
        self._gate = gate
        self._rng = rng

    def moved(self, tx: Transaction, lease: Lease, event: Event) -> bool:
        """Move what a start has waited for long enough; say whether anything was.

        It goes on in a transaction of its own, for all that a booking locks is
        locked in id order.

        :raises climate.leasing.booking.LostRace: if it is to be tried again
        """
        waited = patience.tried(patience.looked_at(event, tx.now))
        if (
            event.kind is not EventKind.START
            or lease.status is not LeaseStatus.PENDING
            or not event.error
            or waited < self._settings.handover_patience
        ):
            return False
        blockers = self._blockers(tx, [reservation.id for reservation in lease.reservations])
        return bool(blockers) and self._move(tx, lease, event, blockers)

    def pause(self, tx: Transaction, lease: Lease, event: Event) -> Lease | None:
        """Return the lease with *event* put off or given up; None if it can go on."""
        ids = [reservation.id for reservation in lease.reservations]
        if not ids or not self._needs(lease, event):
            return None
        tx.allocations.lock_resources(ids)
        if not self._blocked(tx, ids):
            return None
        return self._wait(tx, lease, event, self._blockers(tx, ids))

    def _needs(self, lease: Lease, event: Event) -> bool:
        """Whether an effect touches what a lease before may still have.

        What is prepared at once does, such as a server that is shelved; what
        is undone does not, for it only gives back.
        """
        if event.kind is not EventKind.PREPARE:
            return event.kind in _HOLDS and not following.undone(event)
        plugins = (self._plugins.get(each.resource_type) for each in lease.reservations)
        return any(plugin is not None and plugin.prepares_at_once for plugin in plugins)

    # -- what is in the way

    def _blocked(self, tx: Transaction, ids: Collection[str]) -> bool:
        """Whether anything is; this is asked at every start, and costs little."""
        return (
            bool(tx.allocations.holders(ids))
            or tx.allocations.crowded(ids)
            or (bool(self._settings.cleaning_time) and bool(self._cleaned(tx, ids)))
        )

    def _blockers(self, tx: Transaction, ids: Collection[str]) -> list[Blocker]:
        held = tx.handovers.holders(ids, tx.allocations.crowds(ids))
        return held + (self._cleaned(tx, ids) if self._settings.cleaning_time else [])

    def _cleaned(self, tx: Transaction, ids: Collection[str]) -> list[Blocker]:
        return tx.handovers.cleaned(ids, self._settings.cleaning_time)

    # -- what becomes of it

    def _wait(self, tx: Transaction, lease: Lease, event: Event, blockers: list[Blocker]) -> Lease:
        event = patience.looked_at(event, tx.now)
        why = self._why(lease, blockers)
        held = any(item.released_at is None for item in blockers)
        if event.kind in _HOLDS and held:
            # Not before it could have been moved.
            limit = max(self._settings.effect_deadline, self._settings.handover_patience)
            if patience.tried(event) >= limit:
                return self._give_up(tx, lease, event, why)
            event = self._told(tx, lease, event, blockers, why)
        waiting = dataclasses.replace(
            event, due=self._next_look(tx.now, event, blockers), error=f'waiting: {why}'
        )
        return states.keep(tx, lease, waiting)

    def _next_look(
        self, now: datetime.datetime, event: Event, blockers: list[Blocker]
    ) -> datetime.datetime:
        clean = [item.released_at for item in blockers if item.released_at is not None]
        if blockers and len(clean) == len(blockers):
            left = self._settings.handover_patience - patience.tried(event)
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
            given_up = failing.start(tx, self._plugins, self._gate, lease, event, reason)
        else:
            reason = f'the change could not be made: {why}'
            given_up = failing.update(tx, self._plugins, lease, event, reason)
        LOG.warning('Lease %s: %s', lease.id, reason)
        states.write(tx, lease, given_up)
        return given_up

    def _told(
        self, tx: Transaction, lease: Lease, event: Event, blockers: list[Blocker], why: str
    ) -> Event:
        """Tell that it takes longer than it should, once for each wait."""
        if event.payload.get(patience.TOLD):
            return event
        limit = min(_ORDINARY, self._settings.handover_patience)
        if patience.tried(event) < limit and not self._failing(tx, blockers):
            return event
        for item in blockers:
            LOG.warning(
                'Lease %s: %s waits for %s, which lease %s of project %s has not given back',
                lease.id,
                event.kind,
                item.resource_name,
                item.lease_id,
                item.project_id,
            )
        event = dataclasses.replace(event, payload={**event.payload, patience.TOLD: True})
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
        mover = moving.Mover(tx, self._plugins, self._settings, self._rng, lease)
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
                LOG.info('Lease %s stays where it is: %s', lease.id, error.message)
        if not mover.moves:
            return False
        for move in mover.moves:
            LOG.warning('Lease %s: %s, it has %s now', lease.id, move.reason, ', '.join(move.came))
        moved = states.keep(tx, mover.write(lease), _afresh(event, tx.now))
        tx.leases.update(dataclasses.replace(moved, next_due=events.next_due(moved.events)))
        return True


def _afresh(event: Event, now: datetime.datetime) -> Event:
    return dataclasses.replace(patience.forgotten(event), due=now, error=None)
