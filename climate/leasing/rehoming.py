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

"""Looks after reservations of resources that have failed or are in maintenance.

What can be moved is moved; owners are told of the rest, once, and it is tried
again in every round. All is decided anew inside the transaction that locks the
lease, so any number of managers may do rounds at once.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
import random
from collections.abc import Collection
from collections.abc import Iterable

from climate import exceptions
from climate.clients.base import Cloud
from climate.db.store import Store
from climate.db.store import Transaction
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.health import HealActive
from climate.domain.health import Trouble
from climate.domain.leases import Lease
from climate.domain.lifecycles import EventState
from climate.domain.lifecycles import LeaseStatus
from climate.leasing import moving
from climate.leasing import notices
from climate.leasing.settings import LeasingSettings

LOG = logging.getLogger(__name__)

_S = LeaseStatus
_MOVABLE = frozenset({_S.PENDING, _S.ACTIVE})
# A move of what is in use that the cloud refused is tried again after this.
_TRY_AGAIN = datetime.timedelta(hours=1)

Place = tuple[str, int]
"""A reservation and a resource of it, by id."""


class Rehoming:
    """Does rounds on behalf of one manager."""

    def __init__(
        self,
        store: Store,
        plugins: notices.Plugins,
        settings: LeasingSettings,
        rng: random.Random | None = None,
    ) -> None:
        self._store = store
        self._plugins = plugins
        self._settings = settings
        self._rng = rng or random.Random()

    def round(self, cloud: Cloud) -> int:
        """Look after every lease that needs it; return how many were changed.

        :raises climate.exceptions.DatabaseUnavailable: if there is no answer
        """
        with self._store.reading() as tx:
            ids = tx.troubles.leases(self._until(tx))
        return sum(self._heal_one(lease_id, cloud) for lease_id in ids)

    def _heal_one(self, lease_id: str, cloud: Cloud) -> bool:
        try:
            return self.heal(lease_id, cloud)
        except exceptions.DatabaseUnavailable:
            raise
        except exceptions.ClimateError as error:
            LOG.warning('Lease %s cannot be looked after now: %s', lease_id, error.message)
        except Exception:
            # One lease that cannot be read must not keep the others from it.
            LOG.exception('Lease %s cannot be looked after', lease_id)
        return False

    def heal(self, lease_id: str, cloud: Cloud) -> bool:
        """Move what one lease has on resources that are out, or tell its owner.

        :returns: whether anything was changed
        :raises climate.exceptions.Transient: if the cloud does not answer
        """
        unused = self._unused(lease_id, cloud)
        attempts = self._settings.booking_attempts
        return moving.run(self._store, attempts, lambda tx: self._heal(tx, lease_id, unused))

    def _until(self, tx: Transaction) -> datetime.datetime | None:
        horizon = self._settings.heal_horizon
        return None if horizon is None else tx.now + horizon

    def _unused(self, lease_id: str, cloud: Cloud) -> set[Place]:
        """Return where nothing runs that a reservation in use has in trouble."""
        if self._settings.heal_active is not HealActive.EMPTY:
            return set()
        with self._store.reading() as tx:
            lease = tx.leases.find(lease_id)
            if lease is None or lease.status is not LeaseStatus.ACTIVE:
                return set()
            troubles = self._troubles(tx, lease)
            resources = {
                item.id: item
                for item in tx.resources.with_ids({one.resource_id for one in troubles})
            }
        found = set()
        for reservation in lease.reservations:
            plugin = self._plugins.get(reservation.resource_type)
            for trouble in troubles:
                if plugin is None or trouble.reservation_id != reservation.id:
                    continue
                if not plugin.occupied(reservation, resources[trouble.resource_id], cloud):
                    found.add((reservation.id, trouble.resource_id))
        return found

    def _troubles(self, tx: Transaction, lease: Lease) -> list[Trouble]:
        ids = [reservation.id for reservation in lease.reservations]
        return tx.troubles.of(ids, self._until(tx)) if ids else []

    def _heal(self, tx: Transaction, lease_id: str, unused: Collection[Place]) -> bool:
        try:
            old = tx.leases.get(lease_id, lock=True)
        except exceptions.NotFound:
            return False
        if old.status not in _MOVABLE:
            return False
        mover = moving.Mover(tx, self._plugins, self._settings, self._rng, old)
        stuck: list[tuple[Trouble, str]] = []
        for trouble in self._troubles(tx, old):
            why = self._reason_to_stay(tx, old, trouble, unused)
            if not why:
                why = _moved(mover, old, trouble)
            if why:
                stuck.append((trouble, why))
        lease = flagged(old, {trouble.reservation_id for trouble, _ in stuck})
        lease = mover.write(lease, forced=self._settings.heal_active is HealActive.ALWAYS)
        if lease == old and not mover.moves:
            return False
        write(tx, old, lease)
        self._tell(tx, old, lease, stuck)
        for move in mover.moves:
            LOG.warning('Lease %s: %s, moving to %s', lease_id, move.reason, ', '.join(move.came))
        return True

    def _reason_to_stay(
        self, tx: Transaction, lease: Lease, trouble: Trouble, unused: Collection[Place]
    ) -> str:
        """Say why a reservation stays where it is; '' if it is to move."""
        if lease.status is LeaseStatus.PENDING:
            return ''
        until = self._until(tx)
        if until is not None and trouble.begins >= until:
            return 'it will be moved when the time comes, if it can be'
        mode = self._settings.heal_active
        if mode is HealActive.NEVER:
            return 'what is in use is not moved'
        if mode is HealActive.EMPTY and (trouble.reservation_id, trouble.resource_id) not in unused:
            return 'something runs there'
        refused = [
            event.error or ''
            for event in lease.events
            if tx.now - event.time < _TRY_AGAIN and _refused(event, trouble)
        ]
        return f'the move failed: {refused[-1]}' if refused else ''

    def _tell(
        self,
        tx: Transaction,
        old: Lease,
        lease: Lease,
        stuck: Iterable[tuple[Trouble, str]],
    ) -> None:
        """Tell of those that were not in trouble before."""
        known = {item.id for item in old.reservations if item.missing_resources}
        lines = [
            f'{trouble.reason}; {why}'
            for trouble, why in stuck
            if trouble.reservation_id not in known
        ]
        if lines:
            notices.tell(tx, self._plugins, 'lease.degraded', lease, reason='; '.join(lines))


def flagged(lease: Lease, missing: Collection[str]) -> Lease:
    """Return *lease* as it is if these reservations lack something.

    A lease whose last check failed stays degraded, whatever else is mended.
    """
    failing = lease.degraded and any(
        event.open and event.kind is EventKind.CHECK and event.error for event in lease.events
    )
    return dataclasses.replace(
        lease,
        degraded=bool(missing) or failing,
        reservations=tuple(
            dataclasses.replace(item, missing_resources=item.id in missing)
            for item in lease.reservations
        ),
    )


def moved(tx: Transaction, plugins: notices.Plugins, lease: Lease, event: Event) -> Lease:
    """Return *lease* when the cloud has followed a move, and tell of it."""
    if not moving.moves_of(event):
        return lease
    ids = [item.id for item in lease.reservations]
    has = {(item.reservation_id, item.resource_name) for item in tx.allocations.live_of(ids)}
    # An effect may have given up something else than it was told.
    moves = [move for move in moving.moves_of(event) if (move.reservation_id, move.left) not in has]
    if not moves:
        return lease
    changed = {move.reservation_id for move in moves}
    lease = dataclasses.replace(
        lease,
        reservations=tuple(
            dataclasses.replace(item, resources_changed=True) if item.id in changed else item
            for item in lease.reservations
        ),
    )
    marked = [item.id for item in lease.reservations if item.missing_resources]
    if marked:
        left = tx.troubles.of(marked, None)
        lease = flagged(lease, {trouble.reservation_id for trouble in left})
    for move in moves:
        moving.tell(tx, plugins, lease, move)
    return lease


def _moved(mover: moving.Mover, lease: Lease, trouble: Trouble) -> str:
    """Move what is in trouble; say why if it cannot be."""
    (reservation,) = (item for item in lease.reservations if item.id == trouble.reservation_id)
    try:
        mover.move(reservation, trouble.resource_id, trouble.reason)
    except exceptions.UnsupportedResourceType as error:
        return error.message
    except exceptions.NotEnoughResources:
        return 'there is nothing to take its place'
    return ''


def _refused(event: Event, trouble: Trouble) -> bool:
    return event.state is EventState.ERROR and any(
        move.reservation_id == trouble.reservation_id and move.left == trouble.name
        for move in moving.moves_of(event)
    )


def write(tx: Transaction, old: Lease, new: Lease) -> None:
    """Write what has changed of a lease and its reservations."""
    for before, after in zip(old.reservations, new.reservations, strict=True):
        if after != before:
            tx.reservations.update(after)
    tx.leases.update(new)
