# SPDX-License-Identifier: Apache-2.0

"""Maintenances: announce, list, show, change, cancel.

Each change wakes the managers, which move the reservations in a maintenance to other
resources (:mod:`climate.upkeep.rehoming`).
"""

from __future__ import annotations

import builtins
import uuid
from collections.abc import Callable

from climate import exceptions
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain.maintenances import Maintenance
from climate.domain.maintenances import MaintenanceChange
from climate.domain.maintenances import MaintenanceDraft
from climate.domain.periods import Period
from climate.domain.requests import Caller


class Maintenances:
    """The operations of operators on maintenances.

    :param wake: called after a commit that gives managers something to do; it
        must return at once
    """

    def __init__(self, store: Store, wake: Callable[[], None]) -> None:
        self._store = store
        self._wake = wake

    def create(self, caller: Caller, draft: MaintenanceDraft) -> Maintenance:
        """Announce a maintenance; the resource is not booked for that time any more.

        :raises climate.exceptions.InvalidInput: if it has already ended
        :raises climate.exceptions.NotFound: if there is no such resource
        """

        def write(tx: Transaction) -> Maintenance:
            if draft.id is not None and (earlier := tx.maintenances.find(draft.id)) is not None:
                return earlier
            _check_end(tx, draft.period)
            maintenance_id = draft.id or str(uuid.uuid4())
            resource_id = tx.maintenances.resource_id(draft)
            # A booking under way loses the race, and chooses again.
            tx.resources.touch(resource_id)
            tx.maintenances.insert(maintenance_id, resource_id, draft, caller.user_id)
            return tx.maintenances.get(maintenance_id)

        made = self._store.run(write)
        self._wake()
        return made

    def list(self) -> builtins.list[Maintenance]:
        """Return the maintenances that have not ended, ordered by start."""
        with self._store.reading() as tx:
            return tx.maintenances.all()

    def get(self, maintenance_id: str) -> Maintenance:
        """Return a maintenance.

        :raises climate.exceptions.NotFound: if there is none with this id
        """
        with self._store.reading() as tx:
            return tx.maintenances.get(maintenance_id)

    def update(self, maintenance_id: str, change: MaintenanceChange) -> Maintenance:
        """Change the period or the reason of a maintenance.

        The new period is checked like that of a new maintenance. Reservations that moved
        because of the old one do not move back.

        :raises climate.exceptions.InvalidInput: if it has already ended, or would end before
            it starts
        :raises climate.exceptions.NotFound: if there is none with this id
        """

        def write(tx: Transaction) -> Maintenance:
            tx.resources.touch(tx.maintenances.get(maintenance_id).resource_id)
            # Read again: the row of the resource keeps other changes out from here on.
            before = tx.maintenances.get(maintenance_id)
            start, end = change.start or before.period.start, change.end or before.period.end
            if end <= start:
                raise exceptions.InvalidPeriod(f'{exceptions.InvalidPeriod.template} (end_date)')
            period = Period(start=start, end=end)
            _check_end(tx, period)
            reason = before.reason if change.reason is None else change.reason
            tx.maintenances.update(maintenance_id, period, reason)
            return tx.maintenances.get(maintenance_id)

        changed = self._store.run(write)
        self._wake()
        return changed

    def delete(self, maintenance_id: str) -> None:
        """Cancel a maintenance; reservations that moved because of it do not move back.

        :raises climate.exceptions.NotFound: if there is none with this id
        """

        def write(tx: Transaction) -> None:
            maintenance = tx.maintenances.get(maintenance_id)
            tx.resources.touch(maintenance.resource_id)
            tx.maintenances.delete(maintenance_id)

        self._store.run(write)
        self._wake()


def _check_end(tx: Transaction, period: Period) -> None:
    if period.end <= tx.now:
        raise exceptions.InvalidInput('End date must be later than current date')
