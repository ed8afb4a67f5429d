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

"""Releases what expired holds still have, when a request needs it.

No process is needed to end a hold. A refusal is final only if no expired hold was in the
way: an accepted booking therefore takes no further statement.
"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

from climate import exceptions

if TYPE_CHECKING:
    from climate.db.store import Store

_BATCH = 50
# Between the clocks of two processes.
_DIFFERENCE = datetime.timedelta(seconds=0.1)


def release(store: Store) -> bool:
    """Release all expired holds; return whether there were any.

    :raises climate.exceptions.DatabaseUnavailable: if it does not answer
    """
    with store.reading() as tx:
        if not tx.offers.has_expired_holds():
            return False
    _release_all(store)
    return True


def were_in_the_way(store: Store, error: Exception, began: datetime.datetime) -> bool:
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


def _release_all(store: Store) -> None:
    while store.run(lambda tx: tx.offers.release_expired(_BATCH)):
        pass
