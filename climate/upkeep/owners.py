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

"""Stops the webhooks and feeds of users who have lost the right to create them.

Both work without a token, so that only Keystone knows whether their users still have their
roles. What Keystone does not answer changes nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any
from typing import Final

from climate import exceptions
from climate.clients.base import Cloud
from climate.db.store import Store
from climate.domain.owners import Owner
from climate.domain.requests import Caller
from climate.metrics import catalogue
from climate.metrics import recording
from climate.policies import feeds as feed_policies
from climate.policies import webhooks as webhook_policies

LOG = logging.getLogger(__name__)

May = Callable[[Caller, str], bool]

_WEBHOOKS: Final = ('webhook', webhook_policies.CREATE, webhook_policies.EVERYWHERE)
_FEEDS: Final = ('feed', feed_policies.CREATE, feed_policies.RESOURCE)


class OwnerCheck:
    """Compares the owners of webhooks and feeds with Keystone.

    :param may: returns whether policy allows a user with roles what a rule is about
    """

    def __init__(self, store: Store, cloud: Cloud, may: May) -> None:
        self._store = store
        self._cloud = cloud
        self._may = may

    def run(self) -> int:
        """Check all owners once; return how many webhooks and feeds were stopped.

        Each user of a project is looked up once. The first call that Keystone does not answer
        ends the check, and nothing more stops.
        """
        with self._store.reading() as tx:
            found = [(_WEBHOOKS, one) for one in tx.webhooks.owners()]
            found += [(_FEEDS, one) for one in tx.feeds.owners()]
        known: dict[tuple[str, str], frozenset[str] | str] = {}
        stopped = 0
        for kind, owner in sorted(found, key=lambda one: (one[1], one[0])):
            key = (owner.project_id, owner.user_id)
            try:
                if key not in known:
                    known[key] = self._roles(owner)
            except exceptions.ClimateError as error:
                LOG.warning(
                    'Keystone does not say whether users still have their roles, so that their '
                    'webhooks and feeds go on: %s',
                    error.message,
                )
                break
            stopped += self._stop(kind, owner, known[key])
        return stopped

    def _roles(self, owner: Owner) -> frozenset[str] | str:
        """Return the roles of a user, or why they do not count."""
        identity = self._cloud.identity
        user, project = identity.find_user(owner.user_id), identity.find_project(owner.project_id)
        if user is None or not user.enabled:
            return f'user {owner.user_id} is {"deleted" if user is None else "disabled"}'
        if project is None or not project.enabled:
            return f'project {owner.project_id} is {"deleted" if project is None else "disabled"}'
        return identity.list_roles(owner.user_id, owner.project_id)

    def _stop(self, kind: tuple[str, str, str], owner: Owner, roles: frozenset[str] | str) -> int:
        noun, create, special = kind
        reason = roles if isinstance(roles, str) else self._lost(owner, roles, create, special)
        if not reason:
            return 0

        def write(tx: Any) -> list[str]:
            rows = tx.webhooks if noun == 'webhook' else tx.feeds
            found: list[str] = rows.stop(owner, reason)
            return found

        ids = self._store.run(write)
        for one in ids:
            LOG.warning(
                '%s %s of project %s is stopped: %s',
                noun.capitalize(), one, owner.project_id, reason,
            )  # fmt: skip
        recording.count(catalogue.STOPPED, noun, number=len(ids))
        return len(ids)

    def _lost(self, owner: Owner, roles: frozenset[str], create: str, special: str) -> str:
        caller = Caller(user_id=owner.user_id, project_id=owner.project_id, roles=roles)
        wanted = [create, special] if owner.privileged else [create]
        for rule in wanted:
            if not self._may(caller, rule):
                return f'user {owner.user_id} has lost the right {rule}'
        return ''
