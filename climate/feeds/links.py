# SPDX-License-Identifier: Apache-2.0

"""What users can do with calendar feeds, and what a link shows.

The secret in a link is all that a reader needs, so it has as many bits as a key. Only its
digest is stored: not even the operators of the database can read a calendar with it.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import re
import secrets
import uuid
from collections.abc import Mapping
from typing import Any
from typing import Final

from climate import exceptions
from climate.conf.settings import option
from climate.conf.settings import seconds
from climate.conf.settings import Settings
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain import copies
from climate.domain.feeds import CalendarEntry
from climate.domain.feeds import Feed
from climate.domain.feeds import FeedDraft
from climate.domain.requests import Caller
from climate.domain.requests import Reach
from climate.enforcement.limits import ProjectLimits
from climate.feeds import contents
from climate.plugins.contract import Plugin

_BYTES: Final = 32
_SECRET = re.compile(r'[A-Za-z0-9_-]{43}', re.ASCII)


def _page(value: str | None) -> str:
    return (value or '').rstrip('/')


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class FeedSettings(Settings):
    """The limits of feeds.

    :ivar past: how long a feed shows leases after their end
    :ivar refresh: how often calendars read a feed
    :ivar page_url: of the page for users; '' if unknown
    """

    lifetime: datetime.timedelta = option('feeds', 'lifetime', seconds)
    longest_lifetime: datetime.timedelta = option('feeds', 'longest_lifetime', seconds)
    past: datetime.timedelta = option('feeds', 'past', seconds)
    max_entries: int = option('feeds', 'max_entries')
    refresh: datetime.timedelta = option('feeds', 'refresh', seconds)
    page_url: str = option('feeds', 'page_url', _page)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Calendar:
    """What a link shows.

    :ivar title: the name of the feed, or a description
    """

    feed: Feed
    title: str
    entries: tuple[CalendarEntry, ...]


@dataclasses.dataclass(eq=False, repr=False)
class FeedLinks:
    """The operations of users on calendar feeds.

    :param plugins: the resource types
    :param limits: how many feeds each project may have
    """

    _store: Store
    _plugins: Mapping[str, Plugin[Any]]
    _limits: ProjectLimits
    settings: FeedSettings

    def create(self, caller: Caller, draft: FeedDraft) -> tuple[Feed, str]:
        """Create a feed; return it with the secret, which cannot be read again.

        :raises climate.exceptions.NotFound: if the lease or the resource does not exist
        :raises climate.exceptions.MalformedParameter: if it would last too long
        :raises climate.exceptions.ProjectLimit: if the project has too many
        """
        longest = self.settings.longest_lifetime
        lasts = draft.lasts or min(self.settings.lifetime, longest)
        if lasts > longest:
            raise exceptions.MalformedParameter.of(
                'lifetime', f'at most {int(longest.total_seconds())} seconds are allowed'
            )
        limits = self._limits.of(caller.project_id)
        secret = secrets.token_urlsafe(_BYTES)

        def write(tx: Transaction) -> Feed:
            self._check_shown(tx, caller, draft)
            feed = _feed(caller, draft, tx.now, lasts)
            if draft.id is not None and _exists(tx, draft.id, Reach(project_id=caller.project_id)):
                # The answer with its secret was lost, so the link cannot be in use.
                tx.feeds.delete(draft.id)
            tx.projects.lock(caller.project_id)
            limits.check('feeds', tx.feeds.count(caller.project_id) + 1)
            tx.feeds.insert(feed, _digest(secret))
            return feed

        return self._store.run(write), secret

    def page(self, reach: Reach, marker: str | None, limit: int) -> list[Feed]:
        """Return feeds, ordered by id.

        :param reach: those of the caller
        :param limit: at most so many
        """
        with self._store.reading() as tx:
            return tx.feeds.page(reach, marker, limit)

    def get(self, feed_id: str, reach: Reach) -> Feed:
        """Return a feed.

        :raises climate.exceptions.NotFound: if there is none
        """
        with self._store.reading() as tx:
            return tx.feeds.get(feed_id, reach)

    def delete(self, feed_id: str, reach: Reach) -> None:
        """Revoke the link of a feed.

        :raises climate.exceptions.NotFound: if there is none
        """
        self._store.run(lambda tx: tx.feeds.delete(tx.feeds.get(feed_id, reach).id))

    def find(self, secret: str) -> Feed | None:
        """Return the feed of a link; None if it does not exist, was revoked or has expired."""
        if _SECRET.fullmatch(secret) is None:
            return None
        with self._store.reading() as tx:
            return tx.feeds.of_digest(_digest(secret))

    def read(self, feed: Feed) -> Calendar | None:
        """Return what the link of a feed shows; None if there is nothing left to show."""
        with self._store.reading() as tx:
            return self._calendar(tx, feed)

    def _calendar(self, tx: Transaction, feed: Feed) -> Calendar | None:
        since, most = tx.now - self.settings.past, self.settings.max_entries
        if feed.resource_id is None:
            entries = tx.feeds.leases(feed.project_id, feed.lease_id, since, most)
            title = f'Leases of {feed.project_id}'
            if feed.lease_id is not None:
                title = f'Lease {entries[0].title}' if entries else 'Lease'
        else:
            try:
                title = tx.feeds.resource_name(feed.resource_id)
            except exceptions.NotFound:
                return None
            entries = tx.feeds.uses(feed.resource_id, feed.project_id, since, most)
        entries = contents.described(tx, self._plugins, entries)
        return Calendar(feed=feed, title=feed.name or title, entries=tuple(entries))

    def _check_shown(self, tx: Transaction, caller: Caller, draft: FeedDraft) -> None:
        """Check that the caller's project has the lease, and that the resource exists.

        :raises climate.exceptions.NotFound: if not
        """
        if draft.lease_id is not None:
            tx.leases.get(draft.lease_id, caller.project_id)
        if draft.resource_id is not None:
            tx.feeds.resource_name(draft.resource_id)


def _feed(
    caller: Caller, draft: FeedDraft, now: datetime.datetime, lasts: datetime.timedelta
) -> Feed:
    return copies.converted(
        Feed,
        draft,
        id=draft.id or str(uuid.uuid4()),
        **copies.picked(caller, 'project_id', 'user_id'),
        created_at=now,
        expires_at=now + lasts,
        stopped_reason=None,
    )


def _exists(tx: Transaction, feed_id: str, reach: Reach) -> bool:
    try:
        tx.feeds.get(feed_id, reach)
    except exceptions.NotFound:
        return False
    return True


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
