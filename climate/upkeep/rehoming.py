# SPDX-License-Identifier: Apache-2.0

"""Moves reservations off resources that have failed or are in maintenance.

The owner of a reservation that cannot be moved is notified once, and every round
tries the move again. Each decision is made inside the transaction that locks the
lease, so any number of managers can run rounds at the same time.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
import random
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable

from climate import exceptions
from climate.booking.writing import move as booking_move
from climate.cloud.base import Cloud
from climate.db.transactions import expired_holds
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain.events import Event
from climate.domain.health import HealActive
from climate.domain.health import Outage
from climate.domain.leases import Lease
from climate.domain.lifecycles import EventState
from climate.domain.lifecycles import LeaseStatus
from climate.leases import notices
from climate.leases import states
from climate.leases.settings import LeasingSettings
from climate.resources import catalog

LOG = logging.getLogger(__name__)

_S = LeaseStatus
_MOVABLE = frozenset({_S.PENDING, _S.ACTIVE})
# The pause after the cloud refused to move an active reservation.
_TRY_AGAIN = datetime.timedelta(hours=1)

Place = tuple[str, int]
"""The ids of a reservation and of one of its resources."""


Relocate = Callable[[str, str], bool]
"""Moves a flexible lease to another start, for a reason; returns whether it has moved."""


class _MayMove(Exception):
    """The lease may begin at another time, for the reason that this has."""


class Rehoming:
    """Checks leases in rounds, on behalf of one manager.

    :param relocate: for flexible leases in a maintenance; None leaves them at their start
    """

    def __init__(
        self,
        store: Store,
        plugins: notices.Plugins,
        settings: LeasingSettings,
        rng: random.Random | None = None,
        relocate: Relocate | None = None,
    ) -> None:
        self._relocate = relocate
        self._store = store
        self._plugins = plugins
        self._settings = settings
        self._rng = rng or random.Random()

    def round(self, cloud: Cloud) -> int:
        """Handle every lease in trouble, or marked so; return how many were changed.

        :raises climate.exceptions.DatabaseUnavailable: if the database does not respond
        """
        # A reservation that finds nothing else stays, which is no refusal.
        expired_holds.release(self._store)
        with self._store.reading() as tx:
            ids = tx.affected_leases.leases(self._until(tx))
        return sum(self._heal_one(lease_id, cloud) for lease_id in ids)

    def _heal_one(self, lease_id: str, cloud: Cloud) -> bool:
        try:
            return self.heal(lease_id, cloud)
        except exceptions.DatabaseUnavailable:
            raise
        except exceptions.ClimateError as error:
            LOG.warning(
                'Lease %s cannot be moved to other resources now: %s', lease_id, error.message
            )
        except Exception:
            # One lease that cannot be read must not block the others.
            LOG.exception('Lease %s cannot be moved to other resources', lease_id)
        return False

    def heal(self, lease_id: str, cloud: Cloud) -> bool:
        """Move a lease off resources that are out of service, or notify its owner.

        :returns: whether anything was changed
        :raises climate.exceptions.Transient: if the cloud does not respond
        """
        unused = self._unused(lease_id, cloud)
        try:
            return self._healed(lease_id, unused, may_move=self._relocate is not None)
        except _MayMove as error:
            if self._relocate is not None and self._relocate(lease_id, f'because {error}'):
                return True
        return self._healed(lease_id, unused, may_move=False)

    def _healed(self, lease_id: str, unused: Collection[Place], *, may_move: bool) -> bool:
        return booking_move.run(
            self._store,
            self._settings.booking_attempts,
            lambda tx: self._heal(tx, lease_id, unused, may_move),
        )

    def _until(self, tx: Transaction) -> datetime.datetime | None:
        horizon = self._settings.heal_horizon
        return None if horizon is None else tx.now + horizon

    def _unused(self, lease_id: str, cloud: Cloud) -> set[Place]:
        """Return the resources in trouble of an active lease on which nothing runs."""
        if self._settings.heal_active is not HealActive.EMPTY:
            return set()
        with self._store.reading() as tx:
            lease = tx.leases.find(lease_id)
            if lease is None or lease.status is not LeaseStatus.ACTIVE:
                return set()
            outages = self._outages(tx, lease)
            resources = {
                item.id: item
                for item in tx.resources.with_ids({one.resource_id for one in outages})
            }
        unused = set()
        hosts = catalog.host_types(self._plugins)
        for reservation in lease.reservations:
            plugin = self._plugins.get(reservation.resource_type)
            for outage in outages:
                if plugin is None or outage.reservation_id != reservation.id or outage.crowded:
                    continue
                resource = resources[outage.resource_id]
                if resource.unusable and resource.resource_type not in hosts:
                    # Whatever has befallen an address or a pool, its user may still use it.
                    continue
                if not plugin.occupied(reservation, resource, cloud):
                    unused.add((reservation.id, outage.resource_id))
        return unused

    def _outages(self, tx: Transaction, lease: Lease) -> list[Outage]:
        ids = [reservation.id for reservation in lease.reservations]
        return tx.affected_leases.of(ids, self._until(tx)) if ids else []

    def _heal(
        self, tx: Transaction, lease_id: str, unused: Collection[Place], may_move: bool
    ) -> bool:
        try:
            old = tx.leases.get(lease_id, lock=True)
        except exceptions.NotFound:
            return False
        if old.status not in _MOVABLE:
            return False
        mover = booking_move.Mover(tx, self._plugins, self._settings, self._rng, old)
        stuck: list[tuple[Outage, str]] = []
        for outage in self._outages(tx, old):
            why = self._reason_to_stay(tx, old, outage, unused)
            if not why:
                why = _move(mover, old, outage)
            if why:
                if may_move and outage.closed and not old.is_firm(tx.now):
                    raise _MayMove(outage.reason)
                stuck.append((outage, why))
        lease = booking_move.flagged(old, {outage.reservation_id for outage, _ in stuck})
        lease = mover.write(lease, forced=self._settings.heal_active is HealActive.ALWAYS)
        if lease == old and not mover.moves:
            return False
        if mover.moves:
            lease = dataclasses.replace(lease, updated_at=tx.now)
        states.write(tx, old, lease)
        tx.leases.update(lease)
        self._notify(tx, old, lease, stuck)
        for move in mover.moves:
            LOG.warning('Lease %s: %s, moving to %s', lease_id, move.reason, ', '.join(move.came))
        return True

    def _reason_to_stay(
        self, tx: Transaction, lease: Lease, outage: Outage, unused: Collection[Place]
    ) -> str:
        """Return why a reservation stays where it is; '' if it is to move."""
        if lease.status is LeaseStatus.PENDING:
            return ''
        if outage.crowded:
            # The resource works, and so does whatever runs there.
            return 'it has started, so it stays'
        until = self._until(tx)
        if until is not None and outage.begins >= until:
            return 'it will be moved when the time comes, if possible'
        mode = self._settings.heal_active
        if mode is HealActive.NEVER:
            return 'active reservations are not moved'
        if mode is HealActive.EMPTY and (outage.reservation_id, outage.resource_id) not in unused:
            return 'something is running on it'
        refused = [
            event.error or ''
            for event in lease.events
            if tx.now - event.time < _TRY_AGAIN and _refused(event, outage)
        ]
        return f'the move failed: {refused[-1]}' if refused else ''

    def _notify(
        self, tx: Transaction, old: Lease, lease: Lease, stuck: Iterable[tuple[Outage, str]]
    ) -> None:
        """Notify the owner of the reservations that were not in trouble before."""
        known = {item.id for item in old.reservations if item.missing_resources}
        lines = [
            f'{outage.reason}; {why}' for outage, why in stuck if outage.reservation_id not in known
        ]
        if lines:
            notices.notify(tx, self._plugins, 'lease.degraded', lease, reason='; '.join(lines))


def _move(mover: booking_move.Mover, lease: Lease, outage: Outage) -> str:
    """Move a reservation off the resource; return why that is impossible, or ''."""
    (reservation,) = (item for item in lease.reservations if item.id == outage.reservation_id)
    try:
        mover.move(reservation, outage.resource_id, outage.reason)
    except exceptions.UnsupportedResourceType as error:
        return error.message
    except exceptions.NotEnoughResources:
        return 'no replacement is available'
    return ''


def _refused(event: Event, outage: Outage) -> bool:
    return event.state is EventState.ERROR and any(
        move.reservation_id == outage.reservation_id and move.left == outage.name
        for move in booking_move.moves_of(event)
    )
