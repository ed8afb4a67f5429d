# SPDX-License-Identifier: Apache-2.0

"""Stops the webhooks and feeds of users who have lost the right to create them.

Both work without a token, so that only Keystone knows whether their users still have their
roles. What Keystone does not answer changes nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Final

from climate.cloud.base import Cloud
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain.owners import Owner
from climate.domain.owners import StoppedSubscription
from climate.domain.requests import Caller
from climate.messaging import payloads
from climate.messaging import schemas
from climate.metrics import catalogue
from climate.metrics import recording
from climate.policies import feeds as feed_policies
from climate.policies import webhooks as webhook_policies
from climate.upkeep.trusts import TrustCheck
from climate.upkeep.user_roles import KeystoneSilent
from climate.upkeep.user_roles import UserRoles

LOG = logging.getLogger(__name__)

May = Callable[[Caller, str], bool]

_WEBHOOKS: Final = ('webhook', webhook_policies.CREATE, webhook_policies.EVERYWHERE)
_FEEDS: Final = ('feed', feed_policies.CREATE, feed_policies.RESOURCE)
_NOTIFICATIONS: Final[Mapping[str, str]] = {
    'webhook': schemas.WEBHOOK_STOPPED,
    'feed': schemas.FEED_STOPPED,
}


class OwnerCheck:
    """Compares the owners of webhooks and feeds with Keystone.

    :param may: returns whether policy allows a user with roles what a rule is about
    :param trusts: checks what users have delegated to Climate
    """

    def __init__(self, store: Store, cloud: Cloud, may: May, trusts: TrustCheck) -> None:
        self._store = store
        self._cloud = cloud
        self._may = may
        self._trusts = trusts

    def run(self) -> int:
        """Check all owners once; return how many webhooks, feeds and trusts were stopped or lost.

        Each user of a project is looked up once. The first call that Keystone does not answer
        ends the check, and nothing more stops.
        """
        roles, total = UserRoles(self._cloud.identity), 0
        try:
            for stopped in self._subscriptions(roles):
                total += stopped
            total += self._trusts.run(roles)
        except KeystoneSilent as error:
            LOG.warning(
                'Keystone does not say whether users still have their roles, so that their '
                'webhooks and feeds go on: %s',
                error,
            )
        return total

    def _subscriptions(self, roles: UserRoles) -> Iterator[int]:
        """Stop webhooks and feeds; yield how many of each user and kind."""
        with self._store.reading() as tx:
            owners = [(_WEBHOOKS, one) for one in tx.webhooks.owners()]
            owners += [(_FEEDS, one) for one in tx.feeds.owners()]
        for kind, owner in sorted(owners, key=lambda one: (one[1], one[0])):
            yield self._stop(kind, owner, roles.of(owner.user_id, owner.project_id))

    def _stop(self, kind: tuple[str, str, str], owner: Owner, roles: frozenset[str] | str) -> int:
        noun, create, special = kind
        reason = roles if isinstance(roles, str) else self._lost(owner, roles, create, special)
        if not reason:
            return 0
        stopped = self._store.run(lambda tx: _write(tx, noun, owner, reason))
        for one in stopped:
            LOG.warning(
                '%s %s of project %s is stopped: %s',
                noun.capitalize(), one.id, owner.project_id, reason,
            )  # fmt: skip
        recording.count(catalogue.STOPPED, noun, number=len(stopped))
        return len(stopped)

    def _lost(self, owner: Owner, roles: frozenset[str], create: str, special: str) -> str:
        caller = Caller(user_id=owner.user_id, project_id=owner.project_id, roles=roles)
        wanted = [create, special] if owner.privileged else [create]
        for rule in wanted:
            if not self._may(caller, rule):
                return f'user {owner.user_id} has lost the right {rule}'
        return ''


def _write(tx: Transaction, noun: str, owner: Owner, reason: str) -> list[StoppedSubscription]:
    """Stop the webhooks or feeds of an owner, with their notifications."""
    rows = tx.webhooks if noun == 'webhook' else tx.feeds
    stopped = rows.stop(owner, reason)
    event_type = _NOTIFICATIONS[noun]
    for one in stopped:
        payload = payloads.stopped(event_type, owner, one, reason=reason, now=tx.now)
        tx.outbox.post(event_type, one.id, payload)
    return stopped
