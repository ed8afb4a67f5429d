# SPDX-License-Identifier: Apache-2.0

"""What users can do with webhooks."""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from collections.abc import Callable
from collections.abc import Sequence
from typing import Final

from climate import exceptions
from climate.conf.settings import option
from climate.conf.settings import seconds
from climate.conf.settings import Settings
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain import copies
from climate.domain.requests import Caller
from climate.domain.requests import Reach
from climate.domain.webhooks import Delivery
from climate.domain.webhooks import DeliveryState
from climate.domain.webhooks import matches
from climate.domain.webhooks import TEST_EVENT
from climate.domain.webhooks import Webhook
from climate.domain.webhooks import WebhookChange
from climate.domain.webhooks import WebhookDraft
from climate.enforcement.limits import ProjectLimits
from climate.messaging import payloads
from climate.webhooks import signatures
from climate.webhooks import urls
from climate.webhooks.posts import Poster

EVENT_TYPES: Final = (*payloads.EVENT_TYPES, TEST_EVENT)
"""All types of events that a webhook can get."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class SubscriptionSettings(Settings):
    """The limits of subscriptions."""

    longest_overlap: datetime.timedelta = option('webhooks', 'longest_overlap', seconds)


@dataclasses.dataclass(eq=False, repr=False)
class Subscriptions:
    """The operations of users on webhooks.

    :param poster: knows which URLs can be used
    :param limits: how many webhooks each project may have
    :param wake: called after a commit that gives managers something to send; it must
        return at once
    """

    _store: Store
    _poster: Poster
    _limits: ProjectLimits
    _wake: Callable[[], None]
    _settings: SubscriptionSettings

    def create(self, caller: Caller, draft: WebhookDraft) -> Webhook:
        """Create a webhook; only the result of this call has its secret.

        :raises climate.exceptions.MalformedParameter: naming the field and why
        :raises climate.exceptions.ProjectLimit: if the project has too many
        """
        self._check_url(draft.url)
        _check_types(draft.event_types)
        limits = self._limits.of(caller.project_id)

        def write(tx: Transaction) -> Webhook:
            webhook = Webhook(
                id=draft.id or str(uuid.uuid4()),
                **copies.picked(caller, 'project_id', 'user_id'),
                **copies.picked(draft, 'name', 'url', 'event_types', 'all_projects', 'enabled'),
                secrets=(signatures.new_secret(),),
                created_at=tx.now,
            )
            earlier = tx.webhooks.find(webhook.id)
            if earlier is not None and earlier.project_id == caller.project_id:
                # The answer with its secret was lost, so the client cannot use the webhook.
                tx.webhooks.update(webhook)
                return dataclasses.replace(webhook, created_at=earlier.created_at)
            tx.projects.lock(caller.project_id)
            limits.check('webhooks', tx.webhooks.count(caller.project_id) + 1)
            tx.webhooks.insert(webhook)
            return webhook

        return self._store.run(write)

    def page(self, reach: Reach, marker: str | None, limit: int) -> list[Webhook]:
        """Return webhooks, ordered by id.

        :param reach: those of the caller
        :param limit: at most so many
        """
        with self._store.reading() as tx:
            return tx.webhooks.page(reach, marker, limit)

    def get(self, webhook_id: str, reach: Reach) -> Webhook:
        """Return a webhook.

        :raises climate.exceptions.NotFound: if there is none
        """
        with self._store.reading() as tx:
            return tx.webhooks.get(webhook_id, reach)

    def update(
        self, caller: Caller, webhook_id: str, reach: Reach, change: WebhookChange
    ) -> Webhook:
        """Change a webhook; the result has its secrets.

        A webhook becomes that of the caller who gives it another URL, or enables it after a
        manager has stopped it: it ends with the rights of the user who receives its events.

        :raises climate.exceptions.Conflict: if that caller is no user of its project
        :raises climate.exceptions.NotFound: if there is none
        :raises climate.exceptions.MalformedParameter: naming the field and why
        """
        if change.url is not None:
            self._check_url(change.url)
        if change.event_types is not None:
            _check_types(change.event_types)
        if change.overlap > self._settings.longest_overlap:
            most = int(self._settings.longest_overlap.total_seconds())
            raise exceptions.MalformedParameter.of(
                'keep_previous_secret_for', f'at most {most} seconds are allowed'
            )

        def write(tx: Transaction) -> Webhook:
            known = tx.webhooks.get(webhook_id, reach, lock=True)
            changed = _owned(known, _changed(known, change, tx.now), caller)
            tx.webhooks.update(changed)
            return dataclasses.replace(changed, updated_at=tx.now)

        changed = self._store.run(write)
        self._wake()
        return changed

    def delete(self, webhook_id: str, reach: Reach) -> None:
        """Delete a webhook, with what was to be delivered to it.

        :raises climate.exceptions.NotFound: if there is none
        """

        def write(tx: Transaction) -> None:
            tx.webhooks.delete(tx.webhooks.get(webhook_id, reach, lock=True).id)

        self._store.run(write)

    def deliveries(
        self,
        webhook_id: str,
        reach: Reach,
        state: DeliveryState | None,
        marker: str | None,
        limit: int,
    ) -> list[Delivery]:
        """Return deliveries to a webhook, newest first.

        :raises climate.exceptions.NotFound: if there is no such webhook
        """
        with self._store.reading() as tx:
            tx.webhooks.get(webhook_id, reach)
            return tx.deliveries.page(webhook_id, state, marker, limit)

    def redeliver(self, webhook_id: str, reach: Reach, ids: Sequence[str] | None) -> int:
        """Send dead letters again; return their number.

        :param ids: of deliveries; None for all dead letters of the webhook
        :raises climate.exceptions.NotFound: if there is no such webhook
        """

        def write(tx: Transaction) -> int:
            tx.webhooks.get(webhook_id, reach)
            return tx.deliveries.retry(webhook_id, ids)

        number = self._store.run(write)
        self._wake()
        return number

    def test(self, webhook_id: str, reach: Reach) -> str:
        """Have managers send an event that only tests a webhook; return its delivery's id.

        :raises climate.exceptions.NotFound: if there is no such webhook
        :raises climate.exceptions.InvalidInput: if it is disabled
        :raises climate.exceptions.TooManyRequests: if too many events wait for it
        """

        def write(tx: Transaction) -> str:
            # Locked, so that tests at the same time count each other.
            webhook = tx.webhooks.get(webhook_id, reach, lock=True)
            if not webhook.enabled:
                raise exceptions.InvalidInput('The webhook is disabled')
            return tx.deliveries.add_test(webhook_id, test_payload(webhook))

        delivery_id = self._store.run(write)
        self._wake()
        return delivery_id

    def _check_url(self, url: str) -> None:
        try:
            self._poster.check(url)
        except urls.BadUrl as error:
            raise exceptions.MalformedParameter.of('url', str(error)) from None


def test_payload(webhook: Webhook) -> dict[str, str]:
    """Return the data of an event that tests a webhook."""
    return {'webhook_id': webhook.id, 'project_id': webhook.project_id}


def _check_types(patterns: Sequence[str]) -> None:
    for number, pattern in enumerate(patterns):
        if not any(matches(pattern, event_type) for event_type in EVENT_TYPES):
            raise exceptions.MalformedParameter.of(
                f'event_types[{number}]',
                'a type of notification, such as '
                'lease.delete, or the beginning of some, such as lease.event.*, is required',
            )


def _owned(known: Webhook, changed: Webhook, caller: Caller) -> Webhook:
    """Return a changed webhook as that of the caller, if the caller takes it over."""
    reason = known.stopped_reason if changed.enabled else None
    if reason is None and changed.url == known.url:
        return changed
    if known.project_id != caller.project_id:
        if reason is None:
            raise exceptions.Conflict('Only a user of its project can give a webhook another URL')
        raise exceptions.Conflict(
            f'The webhook was stopped because {reason}; a user of its project has to enable it'
        )
    return dataclasses.replace(
        changed, user_id=caller.user_id, stopped_reason=None if reason else changed.stopped_reason
    )


def _changed(known: Webhook, change: WebhookChange, now: datetime.datetime) -> Webhook:
    values = copies.picked(change, 'name', 'url', 'event_types', 'enabled')
    changed = dataclasses.replace(
        known, **{key: value for key, value in values.items() if value is not None}
    )
    if not change.rotates:
        return changed
    newest, keeps = signatures.new_secret(), bool(change.overlap) and bool(known.secrets)
    return dataclasses.replace(
        changed,
        secrets=(newest, known.secrets[0]) if keeps else (newest,),
        previous_until=now + change.overlap if keeps else None,
    )
