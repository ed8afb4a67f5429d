# SPDX-License-Identifier: Apache-2.0

"""Releases what expired holds still have, when a request needs it.

No process is needed to end a hold. A refusal is final only if no expired hold was in the
way: an accepted booking therefore takes no further statement.
"""

from __future__ import annotations

import datetime

from climate import exceptions
from climate.db.transactions.transaction import Transactions

_BATCH = 50
# Between the clocks of two processes.
_DIFFERENCE = datetime.timedelta(seconds=0.1)


def release(store: Transactions) -> bool:
    """Release all expired holds; return whether there were any.

    :raises climate.exceptions.DatabaseUnavailable: if it does not answer
    """
    with store.reading() as tx:
        if not tx.offers.has_expired_holds():
            return False
    _release_all(store)
    return True


def released_after_refusal(store: Transactions, error: Exception, began: datetime.datetime) -> bool:
    """Release expired holds after a refusal; return whether there were any.

    Also if another process has released some since the transaction began, which may have
    chosen before and was refused after that.

    :param error: that the transaction has raised
    :param began: when it began (aware UTC)
    :raises climate.exceptions.DatabaseUnavailable: if the database does not answer
    """
    if not isinstance(error, exceptions.Conflict) or isinstance(error, exceptions.BookedMeanwhile):
        return False
    with store.reading() as tx:
        expired, released = tx.offers.ended_since(began - _DIFFERENCE)
    if expired:
        _release_all(store)
    return expired or released


def _release_all(store: Transactions) -> None:
    while store.run(lambda tx: tx.offers.release_expired(_BATCH)):
        pass
