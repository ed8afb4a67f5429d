# SPDX-License-Identifier: Apache-2.0

"""A notification of the outbox, as a value."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.domain.origins import RequestOrigin

LEASES: Final = 'lease.'
"""What the types of notifications about leases begin with."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class OutboxRow:
    """A notification that the bus has not accepted yet.

    :ivar id: unique, so that receivers can drop duplicates
    :ivar subject: the lease, or what else it is about, such as ``resource 5``;
        notifications of one subject are sent in order
    :ivar origin: the request that made or last changed the lease; None if none is known
    :ivar attempts: the number of failed attempts while the bus was available
    :ivar error: why the last attempt failed
    :ivar set_aside_at: when it was set aside (aware UTC); None if it was not
    :ivar seq: the order in which notifications were written; 0 before that
    :ivar fanned: whether its webhooks have their own copies
    """

    id: str
    subject: str
    event_type: str
    payload: Mapping[str, Any]
    created_at: datetime.datetime
    priority: str = 'INFO'
    origin: RequestOrigin | None = None
    attempts: int = 0
    error: str | None = None
    set_aside_at: datetime.datetime | None = None
    seq: int = 0
    fanned: bool = False

    @property
    def lease_id(self) -> str:
        """The id of the lease; '' if it is not about a lease, or the lease is unknown."""
        return self.subject if self.event_type.startswith(LEASES) else ''
