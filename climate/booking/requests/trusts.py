# SPDX-License-Identifier: Apache-2.0

"""The trust of a lease whose effects need the rights of its user.

It is recorded as soon as it exists, so that repair finds trusts that could not be
used, or not deleted; see :mod:`climate.db.leases.trusts`.
"""

from __future__ import annotations

import contextlib
import datetime
import logging
import secrets
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from typing import Any
from typing import Final

from climate import exceptions
from climate.booking.requests.context import Context
from climate.cloud.base import Cloud
from climate.db.transactions.store import Store
from climate.domain.leases import Lease
from climate.domain.requests import Caller
from climate.leases import on_behalf
from climate.leases import reading
from climate.plugins.contract import Plugin

LOG = logging.getLogger(__name__)

# Keystone stores no description of a trust, and whole seconds.
_SHIFTS: Final = 24 * 3600
_LAST: Final = datetime.datetime(9999, 12, 31, 23, 59, 59, tzinfo=datetime.UTC)


@contextlib.contextmanager
def made(
    caller: Caller,
    wanted: Collection[tuple[Plugin[Any], frozenset[str]]],
    context: Context,
    end: datetime.datetime,
) -> Iterator[str]:
    """Create a trust of the caller in Climate, for as long as the lease.

    It is deleted if the booking fails. It stays if the database did not respond,
    because the lease may be booked: repair finds out later.

    :param wanted: the plugins whose effects need roles of the user, with those roles
    :param end: of the lease (aware UTC)
    :returns: id of the trust
    :raises climate.exceptions.InvalidInput: if the caller sent no token
    :raises climate.exceptions.Conflict: if Keystone refuses
    :raises climate.exceptions.DatabaseUnavailable: if it cannot be recorded
    """
    if caller.token is None:
        raise exceptions.InvalidInput('The lease must be requested with a token of its user')
    token = caller.token
    store, cloud = context.store, context.service_cloud
    roles = frozenset[str]().union(*(roles for _, roles in wanted))
    redelegate = any(plugin.redelegates for plugin, _ in wanted)
    expires_at = _recognizable(expiry(end, context.settings.trust_margin))
    key = store.run(lambda tx: tx.trusts.announce(caller.user_id, caller.project_id, expires_at))
    try:
        trust = on_behalf.answered(
            lambda: cloud().identity.create_trust(
                token, roles=roles, redelegate=redelegate, expires_at=expires_at
            )
        )
    except exceptions.Conflict:
        # Keystone has refused. After any other error it may exist: repair finds out.
        store.run(lambda tx: tx.trusts.forget(key))
        raise
    try:
        store.run(lambda tx: tx.trusts.confirm(key, trust.id))
    except BaseException:
        # Nothing uses it, and nothing else knows of it.
        _delete(trust.id, cloud)
        raise
    try:
        yield trust.id
    except exceptions.DatabaseUnavailable:
        raise
    except exceptions.ClimateError:
        _remove(trust.id, cloud, store)
        raise


def _recognizable(expires_at: datetime.datetime) -> datetime.datetime:
    """Return a later second, so that repair can recognize a trust whose answer was lost."""
    shift = datetime.timedelta(seconds=secrets.randbelow(_SHIFTS))
    return expires_at + shift if expires_at <= _LAST - shift else expires_at - shift


def expiry(end: datetime.datetime, margin: datetime.timedelta) -> datetime.datetime:
    """Return when the trust of a lease that ends at *end* expires."""
    try:
        # Keystone stores whole seconds.
        return (end + margin).replace(microsecond=0)
    except OverflowError:
        return _LAST


@contextlib.contextmanager
def renewed(
    context: Context, caller: Caller, lease_id: str, end: datetime.datetime | None
) -> Iterator[str | None]:
    """Create a new trust of the owner of a lease, if the present one expires too early.

    Keystone cannot prolong a trust. The old one stays until the lease has ended: an
    effect may be using it, and deleting it would revoke what was delegated further.

    :param end: the new end of the lease; None if it stays as it is
    :returns: id of the new trust; None if none is needed, or the caller is not
        the owner and cannot give one
    :raises climate.exceptions.ClimateError: as :func:`made`
    """
    lease = None if end is None else _outlasting(context, lease_id, end)
    if lease is None or end is None:
        yield None
        return
    if (caller.user_id, caller.project_id) != (lease.user_id, lease.project_id):
        yield None
        # Other users may still prolong the lease.
        LOG.warning('Lease %s may outlast its trust, unless its owner prolongs it', lease_id)
        return
    plugins = ((context.plugins[item.resource_type], item) for item in lease.reservations)
    needs = [(plugin, plugin.roles(reading.load(plugin, item))) for plugin, item in plugins]
    wanted = [(plugin, roles) for plugin, roles in needs if roles]
    if not wanted:
        yield None
        return
    with made(caller, wanted, context, end) as trust_id:
        yield trust_id


def _outlasting(context: Context, lease_id: str, end: datetime.datetime) -> Lease | None:
    """Return a lease whose trust expires too soon after *end*; None otherwise."""
    with context.store.reading() as tx:
        expires_at = tx.trusts.expiry(lease_id)
        if expires_at is None or expires_at >= expiry(end, context.settings.trust_margin / 2):
            return None
        return tx.leases.find(lease_id)


def _remove(trust_id: str, cloud: Callable[[], Cloud], store: Store) -> None:
    """Remove a trust that nothing needs; errors are only logged."""
    if _delete(trust_id, cloud):
        try:
            store.run(lambda tx: tx.trusts.forget(trust_id))
        except exceptions.ClimateError as error:
            LOG.warning('The deletion of a trust could not be recorded: %s', error)


def _delete(trust_id: str, cloud: Callable[[], Cloud]) -> bool:
    try:
        cloud().identity.delete_trust(trust_id)
    except exceptions.ClimateError as error:
        LOG.warning('A trust is not needed and could not be deleted: %s', error)
        return False
    return True
