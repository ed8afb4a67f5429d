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

"""The trust of a lease whose effects need the rights of its user.

It is written down as soon as it is made, so that repair finds the one that
somebody could not use, or not delete; see :mod:`climate.db.trusts`.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator

from climate import exceptions
from climate.clients.base import Cloud
from climate.db.store import Store
from climate.domain.requests import Caller
from climate.leasing import asking
from climate.leasing.wanted import Asked

LOG = logging.getLogger(__name__)


@contextlib.contextmanager
def made(
    caller: Caller, asked: Iterable[Asked], cloud: Callable[[], Cloud], store: Store
) -> Iterator[str | None]:
    """Have the caller trust us for as long as the lease, if anything needs that.

    The trust goes again if the lease does not come about. If nobody can say
    whether it has, for the answer of the database was lost, it stays: repair
    knows later.

    :param cloud: returns the cloud as we see it ourselves
    :returns: id of the trust; None if none is needed
    :raises climate.exceptions.InvalidInput: if the caller has shown no token
    :raises climate.exceptions.Conflict: if Keystone refuses
    :raises climate.exceptions.DatabaseUnavailable: if it cannot be written down
    """
    wants = list(asked)
    roles = frozenset[str]().union(*(one.plugin.roles(one.request) for one in wants))
    if not roles:
        yield None
        return
    if caller.token is None:
        raise exceptions.InvalidInput('It has to be asked for with a token of its user')
    token = caller.token
    redelegate = any(one.plugin.redelegates for one in wants if one.plugin.roles(one.request))
    trust = asking.answered(
        lambda: cloud().identity.create_trust(token, roles=roles, redelegate=redelegate)
    )
    try:
        store.run(lambda tx: tx.trusts.add(trust.id))
    except BaseException:
        # Nothing can have come of it, and nobody else would ever know.
        _delete(trust.id, cloud)
        raise
    try:
        yield trust.id
    except exceptions.DatabaseUnavailable:
        raise
    except exceptions.ClimateError:
        _remove(trust.id, cloud, store)
        raise


def _remove(trust_id: str, cloud: Callable[[], Cloud], store: Store) -> None:
    """Remove a trust that nothing needs; nobody waits for it."""
    if _delete(trust_id, cloud):
        try:
            store.run(lambda tx: tx.trusts.forget(trust_id))
        except exceptions.ClimateError as error:
            LOG.warning('That a trust was deleted could not be written down: %s', error)


def _delete(trust_id: str, cloud: Callable[[], Cloud]) -> bool:
    try:
        cloud().identity.delete_trust(trust_id)
    except exceptions.ClimateError as error:
        LOG.warning('A trust is of no use and could not be deleted: %s', error)
        return False
    return True
