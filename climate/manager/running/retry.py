# SPDX-License-Identifier: Apache-2.0

"""Has managers try postponed events at once, when an operator decides so."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

from climate import exceptions
from climate.db.transactions.store import Transaction
from climate.domain import events
from climate.domain.events import Event
from climate.domain.lifecycles import EventState


def retry(tx: Transaction, lease_id: str, event_ids: Collection[str] | None = None) -> list[Event]:
    """Make failing events of a lease due now, with their whole deadline again.

    An event under way is left to its manager.

    :param event_ids: None for all that have failed
    :returns: the events that are due now
    :raises climate.exceptions.NotFound: if the lease does not exist
    :raises climate.exceptions.Conflict: if an event of *event_ids* has not failed, or is
        over or under way
    """
    lease = tx.leases.get(lease_id, lock=True)
    failing = [event for event in lease.events if _is_failing(event)]
    chosen = [event for event in failing if event_ids is None or event.id in event_ids]
    if event_ids is not None and len(chosen) < len(set(event_ids)):
        known = {event.id for event in chosen}
        missing = ', '.join(sorted(set(event_ids) - known))
        raise exceptions.Conflict(f'Lease {lease_id} has no failing event {missing}')
    retried = []
    for event in chosen:
        now = dataclasses.replace(event.untried(), due=max(event.time, tx.now), begun_at=None)
        lease = tx.events.keep(lease, now)
        retried.append(now)
    if retried:
        tx.leases.update(dataclasses.replace(lease, next_due=events.next_due(lease.events)))
    return retried


def _is_failing(event: Event) -> bool:
    return event.state is EventState.UNDONE and event.kind in events.EFFECTS and event.attempts > 0
