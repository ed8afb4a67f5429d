# SPDX-License-Identifier: Apache-2.0

"""Finds the trusts of leases that are of no use, before an effect needs them.

Keystone refuses a trust whose user has lost one of its roles. Without this check, its lease
would find out when it starts, too late for its owner to do something about it.
"""

from __future__ import annotations

import logging
from typing import Final

from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain.lifecycles import LeaseStatus
from climate.domain.owners import TrustOwner
from climate.exceptions import texts
from climate.leases import notices
from climate.leases.notices import Plugins
from climate.messaging import schemas
from climate.metrics import catalogue
from climate.metrics import recording
from climate.upkeep.user_roles import UserRoles

LOG = logging.getLogger(__name__)

# An end deletes the trust; if it needs one that is lost, it says so itself.
_ENDING: Final = frozenset({LeaseStatus.TERMINATING, LeaseStatus.DELETING, LeaseStatus.TERMINATED})


class TrustCheck:
    """Compares the trusts of leases with Keystone.

    :param plugins: describe the reservations in notifications
    """

    def __init__(self, store: Store, plugins: Plugins) -> None:
        self._store = store
        self._plugins = plugins

    def run(self, roles: UserRoles) -> int:
        """Check all trusts once; return how many are lost that were not before.

        :raises climate.upkeep.user_roles.KeystoneSilent: if Keystone does not answer
        """
        with self._store.reading() as tx:
            owners = tx.trusts.owners()
        return sum(self._check(owner, _why_lost(owner, roles)) for owner in owners)

    def _check(self, owner: TrustOwner, reason: str | None) -> bool:
        if reason == owner.lost_reason:
            return False
        if not self._store.run(lambda tx: self._record(tx, owner, reason)):
            return False
        if reason is None:
            LOG.info('Lease %s: its trust is of use again', owner.lease_id)
            return False
        LOG.warning('Lease %s: its trust is of no use: %s', owner.lease_id, reason)
        recording.count(catalogue.TRUSTS_LOST)
        return True

    def _record(self, tx: Transaction, owner: TrustOwner, reason: str | None) -> bool:
        """Record the state of a trust; return False if that is known, or no longer so."""
        lease = tx.leases.find(owner.lease_id)
        if lease is None or lease.trust_id != owner.trust_id or lease.status in _ENDING:
            return False
        if not tx.trusts.mark_lost(owner.trust_id, reason):
            return False
        if reason is not None:
            notices.notify(tx, self._plugins, schemas.TRUST_LOST, lease, reason=reason)
        return True


def _why_lost(owner: TrustOwner, roles: UserRoles) -> str | None:
    """Return why a trust is of no use, for the owner of the lease; None if it is."""
    difference = _difference(owner, roles)
    return texts.clean(difference) if difference else None


def _difference(owner: TrustOwner, roles: UserRoles) -> str:
    held = roles.of(owner.user_id, owner.project_id)
    if isinstance(held, str):
        return f'Climate cannot act for the owner of the lease: {held}'
    trust = roles.trust(owner.trust_id)
    if trust is None:
        return 'Climate cannot act for the owner of the lease: the trust is deleted or expired'
    missing = sorted(set(trust.roles) - held)
    if not missing:
        return ''
    return (
        f'Climate cannot act for the owner of the lease until user {owner.user_id} has the role '
        f'{" and ".join(missing)} in project {owner.project_id} again'
    )
