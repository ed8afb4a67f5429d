# SPDX-License-Identifier: Apache-2.0

"""Deletes objects in the cloud that were created for leases that were not booked."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from climate import exceptions
from climate.cloud.base import Cloud
from climate.cloud.fence import ClaimLost
from climate.db.leases.intents import Intent
from climate.db.transactions.store import Store
from climate.leases.notices import Plugins
from climate.plugins.contract import SweepFinding

# A lease that was not booked within this time never will be: filters answer earlier.
_BOOKING_LASTS = datetime.timedelta(hours=1)


def sweep(store: Store, plugins: Plugins, cloud: Cloud, *, dry_run: bool) -> Iterator[SweepFinding]:
    """Find objects that may be left in the cloud, and delete them.

    :param dry_run: report what would be done, without doing it
    :raises climate.cloud.fence.ClaimLost: if the claim on the repair has expired
    """
    with store.reading() as tx:
        left = tx.intents.left(tx.now - _BOOKING_LASTS)
    for intent in left:
        what = f'{intent.resource_type} {intent.reservation_id}, which was not booked'
        try:
            done = '' if dry_run else _removed(store, plugins, cloud, intent)
        except ClaimLost:
            raise
        except exceptions.ClimateError as error:
            yield SweepFinding(what=f'{what}, may have left objects: {error.message}')
        else:
            yield SweepFinding(what=f'{what}, may have left objects', done=done)


def _removed(store: Store, plugins: Plugins, cloud: Cloud, intent: Intent) -> str:
    plugin = plugins.get(intent.resource_type)
    if plugin is None:
        raise exceptions.UnsupportedResourceType(resource_type=intent.resource_type)
    plugin.unmake(intent.reservation_id, intent.project_id, {}, cloud)
    store.run(lambda tx: tx.intents.forget([intent.reservation_id]))
    return 'removed, if there were any'
