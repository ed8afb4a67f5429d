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
import datetime
import logging
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any
from typing import Final

from climate import exceptions
from climate.clients.base import Cloud
from climate.db.store import Store
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.requests import Caller
from climate.leasing import asking
from climate.leasing import reading
from climate.leasing.notices import Plugins
from climate.leasing.wanted import Asked

LOG = logging.getLogger(__name__)

_LAST: Final = datetime.datetime(9999, 12, 31, 23, 59, 59, tzinfo=datetime.UTC)


@contextlib.contextmanager
def made(
    caller: Caller,
    asked: Iterable[Asked],
    cloud: Callable[[], Cloud],
    store: Store,
    expires_at: datetime.datetime,
) -> Iterator[str | None]:
    """Have the caller trust us for as long as the lease, if anything needs that.

    The trust goes again if the lease does not come about. If nobody can say
    whether it has, for the answer of the database was lost, it stays: repair
    knows later.

    :param cloud: returns the cloud as we see it ourselves
    :param expires_at: when it is of no use any more, deleted or not (aware UTC)
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
        lambda: cloud().identity.create_trust(
            token, roles=roles, redelegate=redelegate, expires_at=expires_at
        )
    )
    try:
        store.run(lambda tx: tx.trusts.add(trust.id, expires_at))
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


def expiry(end: datetime.datetime, margin: datetime.timedelta) -> datetime.datetime:
    """Return when the trust of a lease expires that ends at *end*."""
    try:
        # As exact as Keystone has it.
        return (end + margin).replace(microsecond=0)
    except OverflowError:
        return _LAST


@contextlib.contextmanager
def renewed(
    caller: Caller,
    lease_id: str,
    end: datetime.datetime | None,
    plugins: Plugins,
    cloud: Callable[[], Cloud],
    store: Store,
    margin: datetime.timedelta,
) -> Iterator[str | None]:
    """Have the owner of a lease trust us anew, if it is to end so late that this is needed.

    Keystone does not let a trust expire later than it was made to. The one
    before is left as it is: an effect may be using it, and what it was handed
    on to is gone with it. It is deleted when the lease is over.

    :param end: the end that the lease is to have; None if it stays as it is
    :param margin: how long after the end a trust expires
    :returns: id of the new trust; None if none is needed, or to be had: nobody
        but the owner can give one
    :raises climate.exceptions.ClimateError: as :func:`made`
    """
    lease = _outlasting(store, lease_id, end, margin) if end is not None else None
    if lease is None or end is None:
        yield None
    elif (caller.user_id, caller.project_id) != (lease.user_id, lease.project_id):
        yield None
        # What is prolonged by others is prolonged all the same.
        LOG.warning('Lease %s may outlast its trust, unless its owner prolongs it', lease_id)
    else:
        asked = [
            Asked(plugin=plugins[item.resource_type], request=_request(plugins, item))
            for item in lease.reservations
        ]
        with made(caller, asked, cloud, store, expiry(end, margin)) as trust_id:
            yield trust_id


def _outlasting(
    store: Store, lease_id: str, end: datetime.datetime, margin: datetime.timedelta
) -> Lease | None:
    """Return a lease whose trust would not last long enough beyond *end*; None otherwise."""
    with store.reading() as tx:
        expires_at = tx.trusts.expiry(lease_id)
        if expires_at is None or expires_at >= expiry(end, margin / 2):
            return None
        return tx.leases.find(lease_id)


def _request(plugins: Plugins, reservation: Reservation) -> Any:
    return reading.load(plugins[reservation.resource_type], reservation)


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
