# SPDX-License-Identifier: Apache-2.0

"""Calendar feeds: secret links to the leases of a project, of a resource, or to one lease."""

from __future__ import annotations

import dataclasses
import datetime
import enum


class FeedKind(enum.StrEnum):
    """What a feed shows: the leases of a project, one lease, or the use of a resource."""

    PROJECT = 'project'
    LEASE = 'lease'
    RESOURCE = 'resource'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class FeedDraft:
    """A feed to create.

    :ivar id: None for a generated one
    :ivar lease_id: the only lease that it shows; None for all
    :ivar resource_id: the resource whose use it shows; None for leases
    :ivar time_zone: an IANA name; times are in UTC if it is ``UTC``
    :ivar before_start: seconds from an alarm to the start of a lease, one for each alarm
    :ivar before_end: likewise, to the end
    :ivar lasts: for how long the link works; None for the default
    """

    time_zone: str
    id: str | None = None
    name: str = ''
    lease_id: str | None = None
    resource_id: int | None = None
    before_start: tuple[int, ...] = ()
    before_end: tuple[int, ...] = ()
    lasts: datetime.timedelta | None = None

    @property
    def kind(self) -> FeedKind:
        """What it shows."""
        if self.lease_id is not None:
            return FeedKind.LEASE
        return FeedKind.PROJECT if self.resource_id is None else FeedKind.RESOURCE


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Feed:
    """A link to a calendar; only a digest of the secret in it is stored.

    :ivar project_id: the project whose leases are shown with their names
    :ivar expires_at: when the link stops working (aware UTC)
    :ivar stopped_reason: why a manager has stopped it before; None if none has
    """

    id: str
    project_id: str
    user_id: str
    name: str
    kind: FeedKind
    lease_id: str | None
    resource_id: int | None
    time_zone: str
    before_start: tuple[int, ...]
    before_end: tuple[int, ...]
    created_at: datetime.datetime
    expires_at: datetime.datetime
    stopped_reason: str | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class CalendarEntry:
    """A period in a calendar.

    :ivar uid: the same as long as the period exists, however often it changes; of a lease
        of another project, only its digest may be shown
    :ivar title: of a lease: its name; of a maintenance: its reason; '' if it is anonymous
    :ivar status: of the lease; '' for a maintenance
    :ivar lease_id: None for a maintenance, and for a lease of another project
    :ivar held: a line for each reservation: ``2 hosts: compute-3, compute-4``; and for what
        users can do with it
    :ivar cancelled: whether it was deleted
    :ivar moves: whether its lease is not firm, so that the period may still move
    :ivar changed_at: when it last changed (aware UTC)
    """

    uid: str
    title: str
    start: datetime.datetime
    end: datetime.datetime
    status: str
    lease_id: str | None
    held: tuple[str, ...]
    cancelled: bool
    moves: bool
    created_at: datetime.datetime
    changed_at: datetime.datetime
