# SPDX-License-Identifier: Apache-2.0

"""Handovers: a lease waits until the previous lease has released its resources.

An ordinary handover takes seconds, and causes no notification. A longer one
causes one. After a while the start moves to other resources, if there are any.
A start or change whose resources are not free at the deadline is abandoned, and
the owner notified.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
import random
from collections.abc import Collection

from climate import exceptions
from climate.booking.writing import move as booking_move
from climate.db.leases.handovers import Blocker
from climate.db.transactions.store import Transaction
from climate.domain import events
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.enforcement.filters import Filters
from climate.leases import notices
from climate.leases import states
from climate.leases.settings import LeasingSettings
from climate.manager.running import fail

LOG = logging.getLogger(__name__)

_HOLDS = frozenset({EventKind.START, EventKind.UPDATE})
_ENDS = frozenset({EventKind.END, EventKind.DELETE, EventKind.UNDO})
# The longest pause between two checks of a preparation, as a multiple of the
# first one: it may have to wait for days, and is not urgent.
_PREPARE_FACTOR = 240
# A handover that deletes servers takes up to this long if nothing is wrong.
_ORDINARY = datetime.timedelta(seconds=10)
_NOTHING = datetime.timedelta(0)


@dataclasses.dataclass(eq=False, repr=False)
class Handover:
    """Decides how to proceed with an event whose resources are not free yet.

    :param rng: breaks ties between resources to move to
    """

    _plugins: notices.Plugins
    _settings: LeasingSettings
    _filters: Filters
    _rng: random.Random

    def moved(self, tx: Transaction, lease: Lease, event: Event) -> bool:
        """Move a start that has waited long enough; return whether it was moved.

        The start continues in a transaction of its own, because everything that a
        booking locks has to be locked in id order.

        :raises climate.booking.choosing.choose.LostRace: if the caller has to try again
        """
        if event.kind is not EventKind.START or lease.status is not LeaseStatus.PENDING:
            return False
        if event.looked_at(tx.now).tried < self._settings.handover_patience:
            return False
        blockers = self._blockers(tx, [reservation.id for reservation in lease.reservations])
        return bool(blockers) and self._move(tx, lease, event, blockers)

    def pause(self, tx: Transaction, lease: Lease, event: Event) -> Lease:
        """Postpone *event*, which is blocked, or abandon it; return the lease."""
        blockers = self._blockers(tx, [reservation.id for reservation in lease.reservations])
        event = event.looked_at(tx.now)
        why = self._why(lease, blockers)
        held = any(item.released_at is None for item in blockers)
        if event.kind in _HOLDS and held:
            # Never abandoned before it could have been moved.
            limit = max(self._settings.effect_deadline, self._settings.handover_patience)
            if event.tried >= limit:
                return self._abandon(tx, lease, event, why)
            event = self._notify_wait(tx, lease, event, blockers, why)
        waiting = dataclasses.replace(
            event, due=self._next_check(tx.now, event, blockers), error=f'waiting: {why}'
        )
        return tx.events.keep(lease, waiting)

    def _blockers(self, tx: Transaction, ids: Collection[str]) -> list[Blocker]:
        held = tx.handovers.holders(ids, tx.allocations.crowds(ids))
        cleaning_time = self._settings.cleaning_time
        return held + (tx.handovers.cleaned(ids, cleaning_time) if cleaning_time else [])

    def _next_check(
        self, now: datetime.datetime, event: Event, blockers: list[Blocker]
    ) -> datetime.datetime:
        clean = [item.released_at for item in blockers if item.released_at is not None]
        if blockers and len(clean) == len(blockers):
            left = self._settings.handover_patience - event.tried
            ready = max(clean) + self._settings.cleaning_time
            return ready if left <= _NOTHING else min(ready, now + left)
        # The longer it has waited, the less a late check matters, and many events
        # that wait for long must not hold up the others.
        first = self._settings.handover_pause
        longest = first * (_PREPARE_FACTOR if event.kind is EventKind.PREPARE else 8)
        return now + min(max((now - event.time) / 8, first), longest)

    def _abandon(self, tx: Transaction, lease: Lease, event: Event, why: str) -> Lease:
        if event.kind is EventKind.START:
            reason = f'it could not start: {why}, and no replacement is available'
            failed = fail.start(tx, self._plugins, self._filters, lease, event, reason)
        else:
            reason = f'the change could not be made: {why}'
            failed = fail.update(tx, self._plugins, lease, event, reason)
        LOG.warning('Lease %s: %s', lease.id, reason)
        states.update(tx, lease, failed)
        return failed

    def _notify_wait(
        self, tx: Transaction, lease: Lease, event: Event, blockers: list[Blocker], why: str
    ) -> Event:
        """Notify the owner of a wait that takes too long, once for each wait."""
        if event.effect.wait_notified:
            return event
        limit = min(_ORDINARY, self._settings.handover_patience)
        if event.tried < limit and not self._failing(tx, blockers):
            return event
        LOG.warning('Lease %s: %s waits for %s', lease.id, event.kind, _awaited(blockers))
        event = event.wait_notified()
        reason = f'waiting: {why}'
        notices.notify(tx, self._plugins, 'lease.event.error', lease, event=event, reason=reason)
        return event

    def _failing(self, tx: Transaction, blockers: list[Blocker]) -> bool:
        """Whether the end of a previous lease has already failed."""
        ends = tx.events.of_leases({item.lease_id for item in blockers})
        return any(item.kind in _ENDS and item.open and item.attempts for item in ends)

    def _why(self, lease: Lease, blockers: list[Blocker]) -> str:
        """Return what is awaited, without naming leases of other projects."""
        lines = []
        for item in blockers:
            name = item.resource_name
            if item.released_at is not None:
                clean = item.released_at + self._settings.cleaning_time
                lines.append(f'{name} is being cleaned until {clean:%H:%M:%S} UTC')
            elif item.project_id == lease.project_id:
                lines.append(f'reservation {item.holder_id} has not released {name}')
            else:
                lines.append(f'the previous lease has not released {name}')
        return '; '.join(dict.fromkeys(lines)) or 'the previous lease has not released everything'

    # -- moves

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
        moved = tx.events.keep(mover.write(lease), _restarted(event, tx.now))
        tx.leases.update(dataclasses.replace(moved, next_due=events.next_due(moved.events)))
        return True


def _restarted(event: Event, now: datetime.datetime) -> Event:
    return dataclasses.replace(event.untried(), due=now, error=None)


def _awaited(blockers: Collection[Blocker]) -> str:
    """Return what is awaited for operators, who may see the leases of all projects."""
    names: dict[tuple[str, str], list[str]] = {}
    for item in blockers:
        names.setdefault((item.lease_id, item.project_id), []).append(item.resource_name)
    return ', and '.join(
        f'{", ".join(dict.fromkeys(resources))}, which lease {lease_id} of project {project_id} '
        'has not released'
        for (lease_id, project_id), resources in names.items()
    )
