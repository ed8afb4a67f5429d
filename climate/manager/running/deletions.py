# SPDX-License-Identifier: Apache-2.0

"""Records what is deleted in the cloud: in the log, the database and the audit trail.

The history of the lease, and a notification for the project that owned the object, are
written in one transaction before the request is sent. A deletion that is repeated, by
this manager or the next one, is recorded once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from collections.abc import Mapping
from typing import Final

from climate import context
from climate.cloud import deletions
from climate.cloud.deletions import Deletion
from climate.db.leases.deletions import Deletions
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain.events import EventKind
from climate.domain.history import DeletedObject
from climate.messaging import payloads

LOG = logging.getLogger(__name__)

DeletionAudit = Callable[[DeletedObject], None]

_NO_WORK: Final = context.WorkContext('')
_REASONS: Final[Mapping[str, str]] = {
    EventKind.PREPARE: 'the lease is prepared',
    EventKind.START: 'the lease starts',
    EventKind.UPDATE: 'the lease is changed',
    EventKind.CHECK: 'the lease is repaired',
    EventKind.BEFORE_END: 'the lease ends soon',
    EventKind.END: 'the lease ends',
    EventKind.UNDO: 'the start of the lease is undone',
    EventKind.DELETE: 'the lease is deleted',
}
_LEFT: Final = 'a lease that is over, or was not booked, left it behind'
_EVICTED: Final = 'it ran on a host of a lease of another project, and {}'


class DeletionRecorder:
    """Records deletions on behalf of a process.

    :param audit: records audit events; None if the audit trail is off
    """

    def __init__(self, store: Store, audit: DeletionAudit | None = None) -> None:
        self._store = store
        self._audit = audit

    def __call__(self, deletion: Deletion) -> None:
        """Record a deletion that is about to be requested.

        :raises climate.exceptions.DatabaseUnavailable: if it cannot be recorded
        """
        if deletion.kind not in deletions.OWNED:
            deletions.log(deletion)
            return
        recorded = self._store.run(lambda tx: _recorded(tx, deletion))
        if recorded is not None:
            self._report(recorded, deletion)

    def _report(self, deleted: DeletedObject, deletion: Deletion) -> None:
        LOG.info(
            '%s: being deleted for lease %s, because %s',
            deletion.label.capitalize(),
            deleted.lease_id or 'that is unknown',
            deleted.reason,
        )
        if self._audit is not None:
            try:
                self._audit(deleted)
            except Exception:
                # Nothing else must depend on the audit trail.
                LOG.exception('The audit trail is missing a deletion')


def _recorded(tx: Transaction, deletion: Deletion) -> DeletedObject | None:
    """Record a deletion; return None if it was recorded before."""
    rows = Deletions(tx.session, tx.now)
    work = context.work() or _NO_WORK
    lease_id, reservation_id = work.lease_id, work.reservation_id
    if not lease_id and deletion.mentioned:
        reservation_id, lease_id = rows.reservation(deletion.mentioned) or (None, '')
    owner = tx.leases.project_of(lease_id) or ''
    of_another_project = bool(owner and deletion.project_id and deletion.project_id != owner)
    reason = _REASONS.get(work.event or '', _LEFT)
    deleted = DeletedObject(
        lease_id=lease_id,
        reservation_id=reservation_id,
        event_id=work.event_id,
        event=work.event or '',
        object_type=deletion.kind,
        object_id=deletion.id,
        name=deletion.name,
        project_id=deletion.project_id or owner,
        host=deletion.host,
        reason=_EVICTED.format(reason) if of_another_project else reason,
        at=tx.now,
    )
    if not rows.add(deleted):
        return None
    event_type = payloads.deletion_type(deleted)
    tx.outbox.post(
        event_type,
        deleted.lease_id,
        payloads.deletion(deleted),
        priority=payloads.priority(event_type),
        origin=work.origin,
    )
    return deleted
