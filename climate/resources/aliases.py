# SPDX-License-Identifier: Apache-2.0

"""Opaque ids under which a project sees reservations and leases of others.

An id is the same each time, so that a calendar can be read. It cannot be turned
back into the real id, nor computed from it, and differs for each project that looks
and for each reservation of a lease. So what two projects see, or what two resources
show, cannot be combined to find the owner.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import uuid
from typing import Final

from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain.requests import ReservedShare

_NAME: Final = 'opaque_ids'
_BYTES: Final = 32


class Aliases:
    """Computes opaque ids.

    :param secret: the key for computing them; '' for the one in the database, which
        the first process that needs it creates
    """

    def __init__(self, store: Store, secret: str = '') -> None:
        self._store = store
        self._secret = secret

    def of(self, viewer: str, taken: ReservedShare) -> tuple[str, str]:
        """Return the ids of a reservation and of its lease.

        :param viewer: id of the project that looks
        """
        return self._opaque('reservation', viewer, taken), self._opaque('lease', viewer, taken)

    def _opaque(self, kind: str, viewer: str, taken: ReservedShare) -> str:
        # The id of the lease depends on the reservation too: readers of a calendar
        # cannot see that a stack and the hosts for it belong together.
        text = '\0'.join((kind, taken.lease_id, taken.reservation_id, viewer))
        digest = hmac.digest(self._key().encode(), text.encode(), hashlib.sha256)
        return str(uuid.UUID(bytes=digest[:16], version=4))

    def _key(self) -> str:
        if not self._secret:
            with self._store.reading() as tx:
                known = tx.secrets.find(_NAME)
            self._secret = known or self._store.run(_made)
        return self._secret


def _made(tx: Transaction) -> str:
    """Return the secret of the database; create it unless another process was first."""
    known = tx.secrets.find(_NAME)
    if known is None:
        known = secrets.token_urlsafe(_BYTES)
        tx.secrets.insert(_NAME, known)
    return known
