# SPDX-License-Identifier: Apache-2.0

"""Deletes trusts that are no longer needed."""

from __future__ import annotations

import datetime
from collections.abc import Collection
from collections.abc import Iterator

from climate import exceptions
from climate.cloud.base import Cloud
from climate.cloud.fence import ClaimLost
from climate.cloud.protocols.trusts import Trust
from climate.db.leases.trusts import AnnouncedTrust
from climate.db.leases.trusts import LeftTrust
from climate.db.transactions.store import Store
from climate.plugins.contract import SweepFinding

# A lease that was not booked within this time never will be: filters answer earlier.
_BOOKING_LASTS = datetime.timedelta(hours=1)


def sweep(
    store: Store, cloud: Cloud, lease_id: str | None, *, dry_run: bool
) -> Iterator[SweepFinding]:
    """Find trusts of leases that have ended or were not booked, and delete them.

    :param lease_id: only of this lease
    :param dry_run: report what would be done, without doing it
    :raises climate.cloud.fence.ClaimLost: if the claim on the repair has expired
    """
    with store.reading() as tx:
        left = tx.trusts.left(tx.now - _BOOKING_LASTS, lease_id)
    for trust in left:
        try:
            done = '' if dry_run else _delete(store, cloud, trust)
        except ClaimLost:
            raise
        except exceptions.ClimateError as error:
            yield SweepFinding(what=f'{_what(trust)} cannot be deleted: {error.message}')
        else:
            yield SweepFinding(what=_what(trust), done=done)


def sweep_unconfirmed(store: Store, cloud: Cloud, *, dry_run: bool) -> Iterator[SweepFinding]:
    """Find trusts whose creation Keystone did not confirm, and delete them.

    :param dry_run: report what would be done, without doing it
    :raises climate.cloud.fence.ClaimLost: if the claim on the repair has expired
    """
    with store.reading() as tx:
        announced = tx.trusts.announced(tx.now - _BOOKING_LASTS)
    if not announced:
        return
    try:
        present = cloud.identity.list_trusts()
    except ClaimLost:
        raise
    except exceptions.ClimateError as error:
        yield SweepFinding(what=f'trusts cannot be listed: {error.message}')
        return
    for one in announced:
        yield from _unconfirmed(store, cloud, one, present, dry_run=dry_run)


def _unconfirmed(
    store: Store,
    cloud: Cloud,
    announced: AnnouncedTrust,
    present: Collection[Trust],
    *,
    dry_run: bool,
) -> Iterator[SweepFinding]:
    wanted = (announced.user_id, announced.project_id, announced.expires_at)
    unconfirmed = [
        trust.id
        for trust in present
        if (trust.trustor_user_id, trust.project_id, trust.expires_at) == wanted
    ]
    with store.reading() as tx:
        left = sorted(set(unconfirmed) - tx.trusts.recorded(unconfirmed))
    what = (
        f'a trust of {announced.made_at:%Y-%m-%d %H:%M:%S} UTC, whose creation Keystone did not '
        'confirm'
    )
    try:
        for trust_id in left if not dry_run else ():
            cloud.identity.delete_trust(trust_id)
    except ClaimLost:
        raise
    except exceptions.ClimateError as error:
        yield SweepFinding(what=f'{what}, cannot be deleted: {error.message}')
        return
    if not dry_run:
        store.run(lambda tx: tx.trusts.forget(announced.key))
    if left:
        yield SweepFinding(what=what, done='' if dry_run else 'deleted')


def _delete(store: Store, cloud: Cloud, trust: LeftTrust) -> str:
    cloud.identity.delete_trust(trust.id)
    store.run(lambda tx: tx.trusts.forget(trust.id))
    return 'deleted'


def _what(trust: LeftTrust) -> str:
    """Describe a trust, without its id."""
    if trust.lease_id is None:
        return f'a trust of {trust.made_at:%Y-%m-%d %H:%M:%S} UTC, for a lease that was not booked'
    return f'the trust of lease {trust.lease_id}, which is over'
