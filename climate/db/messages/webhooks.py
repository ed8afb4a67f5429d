# SPDX-License-Identifier: Apache-2.0

"""Queries of webhooks."""

from __future__ import annotations

import datetime
from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from climate import exceptions
from climate.db.leases.reservations import SealedRows
from climate.db.schema.tables import WEBHOOK_DELIVERIES
from climate.db.schema.tables import WEBHOOKS
from climate.domain import copies
from climate.domain.owners import Owner
from climate.domain.owners import StoppedSubscription
from climate.domain.requests import Reach
from climate.domain.webhooks import Webhook


class WebhookRows(SealedRows):
    """Rows of ``webhooks``."""

    def insert(self, webhook: Webhook) -> None:
        """Insert a webhook; its first secret is stored."""
        fixed = copies.picked(webhook, 'id', 'project_id', 'all_projects')
        self._insert_row(WEBHOOKS, **fixed, created_at=self._now, **self._changeable(webhook))

    def update(self, webhook: Webhook) -> None:
        """Update a webhook, with its secrets."""
        self._update_rows(
            WEBHOOKS, WEBHOOKS.c.id == webhook.id, updated_at=self._now, **self._changeable(webhook)
        )

    def delete(self, webhook_id: str) -> None:
        """Delete a webhook, with what was to be delivered to it."""
        self._delete_rows(WEBHOOK_DELIVERIES, WEBHOOK_DELIVERIES.c.webhook_id == webhook_id)
        self._delete_rows(WEBHOOKS, WEBHOOKS.c.id == webhook_id)

    def get(self, webhook_id: str, reach: Reach, *, lock: bool = False) -> Webhook:
        """Return a webhook.

        :param reach: search only these
        :param lock: lock the row until the transaction ends
        :raises climate.exceptions.NotFound: if it does not exist
        """
        query = _within(reach).where(WEBHOOKS.c.id == webhook_id)
        row = self._session.execute(query.with_for_update() if lock else query).one_or_none()
        if row is None:
            raise exceptions.NotFound(object={'webhook_id': webhook_id})
        return self._webhook(row)

    def find(self, webhook_id: str) -> Webhook | None:
        """Return a webhook; None if it does not exist."""
        row = self._session.execute(
            sa.select(WEBHOOKS).where(WEBHOOKS.c.id == webhook_id)
        ).one_or_none()
        return None if row is None else self._webhook(row)

    def page(self, reach: Reach, marker: str | None, limit: int) -> list[Webhook]:
        """Return the webhooks after *marker*, ordered by id, at most *limit*."""
        query = _within(reach).order_by(WEBHOOKS.c.id).limit(limit)
        if marker is not None:
            query = query.where(WEBHOOKS.c.id > marker)
        return [self._webhook(row) for row in self._session.execute(query)]

    def count(self, project_id: str) -> int:
        """Return how many webhooks a project has."""
        return self._count_rows(WEBHOOKS.c.project_id == project_id)

    def enabled(self, project_ids: Collection[str]) -> list[Webhook]:
        """Return the enabled webhooks of projects, and those for all projects.

        ::

            SELECT * FROM webhooks WHERE enabled AND (all_projects OR project_id IN (…))
        """
        query = sa.select(WEBHOOKS).where(
            WEBHOOKS.c.enabled == sa.true(),
            sa.or_(
                WEBHOOKS.c.all_projects == sa.true(), WEBHOOKS.c.project_id.in_(sorted(project_ids))
            ),
        )
        return [self._webhook(row) for row in self._session.execute(query)]

    def owners(self) -> list[Owner]:
        """Return the owners of enabled webhooks."""
        columns = (WEBHOOKS.c.project_id, WEBHOOKS.c.user_id, WEBHOOKS.c.all_projects)
        query = sa.select(*columns).where(WEBHOOKS.c.enabled == sa.true()).distinct()
        return [
            Owner(project_id=project_id, user_id=user_id, privileged=bool(privileged))
            for project_id, user_id, privileged in self._session.execute(query)
        ]

    def stop(self, owner: Owner, reason: str) -> list[StoppedSubscription]:
        """Disable the webhooks of an owner; return them."""
        mine = (
            WEBHOOKS.c.project_id == owner.project_id,
            WEBHOOKS.c.user_id == owner.user_id,
            WEBHOOKS.c.all_projects == owner.privileged,
            WEBHOOKS.c.enabled == sa.true(),
        )
        query = sa.select(WEBHOOKS.c.id, WEBHOOKS.c.name).where(*mine).with_for_update()
        stopped = [
            StoppedSubscription(id=row.id, name=row.name or '')
            for row in self._session.execute(query)
        ]
        ids = [one.id for one in stopped]
        if ids:
            values = {'enabled': False, 'stopped_reason': reason, 'updated_at': self._now}
            self._update_rows(WEBHOOKS, WEBHOOKS.c.id.in_(ids), **values)
        return stopped

    def _changeable(self, webhook: Webhook) -> dict[str, Any]:
        newest, *older = webhook.secrets
        return {
            **copies.picked(webhook, 'user_id', 'name', 'enabled', 'stopped_reason'),
            'url': self._vault.seal_text(webhook.url),
            'options': {'event_types': list(webhook.event_types)},
            'secret': self._vault.seal_text(newest),
            'previous_secret': self._vault.seal_text(older[0]) if older else None,
            'previous_until': webhook.previous_until if older else None,
        }

    def _webhook(self, row: Any) -> Webhook:
        until: datetime.datetime | None = row.previous_until
        if until is not None and until <= self._now:
            until = None
        stored = [row.secret] if until is None else [row.secret, row.previous_secret]
        opened = (self._vault.open_text(secret) for secret in stored if secret is not None)
        return copies.converted(
            Webhook,
            row,
            url=self._vault.open_text(row.url) or '',
            event_types=tuple(row.options['event_types']),
            all_projects=bool(row.all_projects),
            enabled=bool(row.enabled),
            secrets=tuple(secret for secret in opened if secret is not None),
            previous_until=until,
        )


def _within(reach: Reach) -> sa.Select[Any]:
    """Return the query of the webhooks that a caller can use."""
    query = sa.select(WEBHOOKS)
    if reach.project_id is not None:
        query = query.where(WEBHOOKS.c.project_id == reach.project_id)
    return query if reach.privileged else query.where(WEBHOOKS.c.all_projects == sa.false())
