# SPDX-License-Identifier: Apache-2.0

"""Webhooks and calendar feeds in openstacksdk."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any
from typing import Final
from typing import TypeVar

from openstack import exceptions
from openstack import resource

from climate.client.sdk import bases
from climate.client.sdk.requests import ReservationRequests

SINCE: Final = '1.5'
"""The microversion that has webhooks and feeds."""


class LeaseWebhook(bases.ManagedResource):
    """A URL that is notified about leases."""

    resource_key = 'webhook'
    resources_key = 'webhooks'
    base_path = '/webhooks'

    url = resource.Body('url')
    #: Types of notifications, or their beginnings with ``*``.
    event_types = resource.Body('event_types', type=list)
    #: Whether it gets the notifications of all projects.
    is_for_all_projects = resource.Body('all_projects', type=bool)
    is_enabled = resource.Body('enabled', type=bool)
    #: Only right after it was created.
    secret = resource.Body('secret')
    #: Until when the previous secret signs as well.
    previous_secret_until = resource.Body('previous_secret_until')
    project_id = resource.Body('project_id')
    user_id = resource.Body('user_id')
    #: Why a manager has stopped it.
    stopped_reason = resource.Body('stopped_reason')
    created_at = resource.Body('created_at')
    updated_at = resource.Body('updated_at')


class WebhookDelivery(bases.ReservationResource):
    """A notification that was, or is to be, sent to a webhook."""

    resources_key = 'deliveries'
    base_path = '/webhooks/%(webhook_id)s/deliveries'

    allow_list = True

    _query_mapping = resource.QueryParameters('state')

    webhook_id = resource.URI('webhook_id')
    event_id = resource.Body('event_id')
    event_type = resource.Body('event_type')
    lease_id = resource.Body('lease_id')
    #: ``waiting``, ``delivered`` or ``dead``.
    state = resource.Body('state')
    attempts = resource.Body('attempts', type=int)
    #: The HTTP status of the last response.
    status_code = resource.Body('status_code', type=int)
    #: Why the last attempt failed.
    error = resource.Body('error')
    next_attempt_at = resource.Body('next_attempt_at')
    created_at = resource.Body('created_at')
    finished_at = resource.Body('finished_at')


class LeaseFeed(bases.ManagedResource):
    """A secret link to a calendar."""

    resource_key = 'feed'
    resources_key = 'feeds'
    base_path = '/feeds'

    allow_commit = False

    #: ``project``, ``lease`` or ``resource``.
    kind = resource.Body('kind')
    lease_id = resource.Body('lease_id')
    resource_id = resource.Body('resource_id')
    time_zone = resource.Body('time_zone')
    alarms_before_start = resource.Body('alarms_before_start', type=list)
    alarms_before_end = resource.Body('alarms_before_end', type=list)
    #: How long the link works, for a new feed.
    lifetime = resource.Body('lifetime')
    #: The link, only right after it was created.
    url = resource.Body('url')
    project_id = resource.Body('project_id')
    user_id = resource.Body('user_id')
    #: Why a manager has stopped it.
    stopped_reason = resource.Body('stopped_reason')
    created_at = resource.Body('created_at')
    expires_at = resource.Body('expires_at')


_Named = TypeVar('_Named', LeaseWebhook, LeaseFeed)


def _chosen(
    listed: Iterable[_Named], name_or_id: str, noun: str, ignore_missing: bool
) -> _Named | None:
    """Return the object of an id or, if there is none, of a name."""
    named = []
    for one in listed:
        if one.id == name_or_id:
            return one
        if one.name and one.name == name_or_id:
            named.append(one)
    if len(named) > 1:
        raise exceptions.DuplicateResource(f'Several have the name {name_or_id!r}: use an id')
    if not named and not ignore_missing:
        raise exceptions.NotFoundException(f'There is no {noun} {name_or_id!r}')
    return named[0] if named else None


class HooksMixin(ReservationRequests):
    """The methods of the proxy for webhooks and calendar feeds."""

    def create_webhook(self, **fields: Any) -> LeaseWebhook:
        """Create a webhook; only the result of this call has its secret.

        :param fields: those of :class:`LeaseWebhook`, with ``url`` at least
        """
        self.require(SINCE, 'webhooks')
        return self._create(LeaseWebhook, **fields)

    def webhooks(self) -> Iterator[LeaseWebhook]:
        """Return the webhooks of the project."""
        self.require(SINCE, 'webhooks')
        return self._list(LeaseWebhook)

    def find_webhook(self, name_or_id: str, ignore_missing: bool = True) -> LeaseWebhook | None:
        """Return the webhook of an id or a name.

        :param ignore_missing: whether a missing webhook is None rather than an error
        :raises openstack.exceptions.DuplicateResource: if several have the name
        """
        return _chosen(self.webhooks(), name_or_id, 'webhook', ignore_missing)

    def get_webhook(self, webhook: str | LeaseWebhook) -> LeaseWebhook:
        """Return a webhook."""
        self.require(SINCE, 'webhooks')
        return self._get(LeaseWebhook, webhook)

    def update_webhook(self, webhook: str | LeaseWebhook, **fields: Any) -> dict[str, Any]:
        """Change a webhook; return it, with the secret if there is a new one.

        :param fields: as in the API, with ``rotate_secret`` for a new secret
        """
        self.require(SINCE, 'webhooks')
        path = f'/webhooks/{resource.Resource._get_id(webhook)}'
        answer = self.put(path, json=fields, microversion=SINCE)
        changed: dict[str, Any] = answer.json()['webhook']
        return changed

    def delete_webhook(self, webhook: str | LeaseWebhook, ignore_missing: bool = True) -> None:
        """Delete a webhook."""
        self.require(SINCE, 'webhooks')
        self._delete(LeaseWebhook, webhook, ignore_missing=ignore_missing)

    def test_webhook(self, webhook: str | LeaseWebhook) -> str:
        """Send a test event to a webhook; return the id of the delivery."""
        self.require(SINCE, 'webhooks')
        path = f'/webhooks/{resource.Resource._get_id(webhook)}/test'
        return str(self.post(path, json={}, microversion=SINCE).json()['delivery_id'])

    def webhook_deliveries(
        self, webhook: str | LeaseWebhook, **query: Any
    ) -> Iterator[WebhookDelivery]:
        """Return the deliveries to a webhook, newest first.

        :param query: ``state`` for those in a state
        """
        self.require(SINCE, 'webhooks')
        webhook_id = resource.Resource._get_id(webhook)
        return self._list(WebhookDelivery, webhook_id=webhook_id, **query)

    def redeliver(self, webhook: str | LeaseWebhook, ids: Sequence[str] | None = None) -> int:
        """Send dead letters again; return their number.

        :param ids: of deliveries; None for all dead letters of the webhook
        """
        self.require(SINCE, 'webhooks')
        path = f'/webhooks/{resource.Resource._get_id(webhook)}/redeliver'
        body = {'all': True} if ids is None else {'delivery_ids': list(ids)}
        return int(self.post(path, json=body, microversion=SINCE).json()['redelivered'])

    def create_feed(self, **fields: Any) -> LeaseFeed:
        """Create a calendar feed; only the result of this call has its link.

        :param fields: those of :class:`LeaseFeed`
        """
        self.require(SINCE, 'calendar feeds')
        return self._create(LeaseFeed, **fields)

    def feeds(self) -> Iterator[LeaseFeed]:
        """Return the calendar feeds of the project."""
        self.require(SINCE, 'calendar feeds')
        return self._list(LeaseFeed)

    def find_feed(self, name_or_id: str, ignore_missing: bool = True) -> LeaseFeed | None:
        """Return the calendar feed of an id or a name.

        :param ignore_missing: whether a missing calendar feed is None rather than an error
        :raises openstack.exceptions.DuplicateResource: if several have the name
        """
        return _chosen(self.feeds(), name_or_id, 'calendar feed', ignore_missing)

    def get_feed(self, feed: str | LeaseFeed) -> LeaseFeed:
        """Return a calendar feed, without its link."""
        self.require(SINCE, 'calendar feeds')
        return self._get(LeaseFeed, feed)

    def delete_feed(self, feed: str | LeaseFeed, ignore_missing: bool = True) -> None:
        """Revoke a calendar feed."""
        self.require(SINCE, 'calendar feeds')
        self._delete(LeaseFeed, feed, ignore_missing=ignore_missing)
