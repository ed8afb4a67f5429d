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

"""Works one claimed lease off: begin, perform, settle, until nothing is due."""

from __future__ import annotations

import logging
from collections.abc import Callable

from climate import exceptions
from climate.clients.base import Cloud
from climate.db.store import Store
from climate.enforcement.gate import Gate
from climate.leasing.beginning import Beginner
from climate.leasing.notices import Plugins
from climate.leasing.settings import LeasingSettings
from climate.leasing.settling import Settler
from climate.manager.effects import perform

LOG = logging.getLogger(__name__)


class Worker:
    """Does what is due on a lease.

    :param told: called after a commit that wrote notifications
    :param gate: the filters that judge leases; None for none
    """

    def __init__(
        self,
        store: Store,
        plugins: Plugins,
        cloud: Cloud,
        settings: LeasingSettings,
        owner: str,
        told: Callable[[], None],
        gate: Gate | None = None,
    ) -> None:
        self._store = store
        self._plugins = plugins
        self._cloud = cloud
        self._told = told
        self._beginner = Beginner(plugins, settings, owner)
        self._settler = Settler(plugins, settings, owner, gate)

    def work(self, lease_id: str) -> None:
        """Do all that is due on a claimed lease.

        An error ends the work here: the claim runs out, and the lease is taken
        up again by whoever comes first.
        """
        try:
            while self._one(lease_id):
                continue
        except exceptions.DatabaseUnavailable:
            LOG.warning('Lease %s: the database does not answer; it is taken up again', lease_id)
        except Exception:
            LOG.exception('Lease %s: it is taken up again', lease_id)

    def _one(self, lease_id: str) -> bool:
        job = self._store.run(lambda tx: self._beginner.begin(tx, lease_id))
        if job is None:
            self._told()
            return False
        report = perform(job, self._plugins, self._cloud)
        more = self._store.run(lambda tx: self._settler.settle(tx, job, report))
        self._told()
        return more
