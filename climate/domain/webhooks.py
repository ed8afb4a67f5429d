# SPDX-License-Identifier: Apache-2.0

"""Webhooks: addresses that are notified over HTTP, and what is delivered to them."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from collections.abc import Mapping
from typing import Any
from typing import Final

TEST_EVENT: Final = 'webhook.test'
"""The type of an event that only tests a webhook; every webhook gets its own."""

_ANYTHING: Final = '*'


class DeliveryState(enum.StrEnum):
    """The state of a delivery.

    ``waiting``: not accepted yet; ``delivered``: the receiver has accepted it; ``dead``:
    all attempts have failed.
    """

    WAITING = 'waiting'
    DELIVERED = 'delivered'
    DEAD = 'dead'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Webhook:
    """A subscription of a project.

    :ivar url: '' if no key of this process decrypts it
    :ivar event_types: types of notifications, or their beginnings with ``*`` at the end
    :ivar all_projects: whether it gets the notifications of every project
    :ivar secrets: the secret that signs, and before it expires also the previous one
    :ivar previous_until: when the previous secret expires (aware UTC); None without one
    :ivar stopped_reason: why a manager has disabled it; None if none has
    """

    id: str
    project_id: str
    user_id: str
    name: str
    url: str = dataclasses.field(repr=False)
    event_types: tuple[str, ...] = (_ANYTHING,)
    all_projects: bool = False
    enabled: bool = True
    secrets: tuple[str, ...] = dataclasses.field(default=(), repr=False)
    previous_until: datetime.datetime | None = None
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None
    stopped_reason: str | None = None

    def wants(self, event_type: str, project_id: str) -> bool:
        """Whether it gets the notifications of a type that concern a project."""
        return (self.all_projects or project_id == self.project_id) and any(
            matches(pattern, event_type) for pattern in self.event_types
        )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class WebhookDraft:
    """A webhook to create.

    :ivar id: None for a generated one
    """

    id: str | None = None
    name: str = ''
    url: str = dataclasses.field(repr=False)
    event_types: tuple[str, ...] = (_ANYTHING,)
    all_projects: bool = False
    enabled: bool = True


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class WebhookChange:
    """Changes of a webhook; None leaves a value as it is.

    :ivar rotates: whether to create a new secret
    :ivar overlap: for how long the previous secret then signs as well
    """

    name: str | None = None
    url: str | None = dataclasses.field(default=None, repr=False)
    event_types: tuple[str, ...] | None = None
    enabled: bool | None = None
    rotates: bool = False
    overlap: datetime.timedelta = datetime.timedelta(0)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Delivery:
    """A notification on its way to a webhook.

    :ivar seq: the order in which deliveries were written
    :ivar message_id: the id of the notification, the same on the message bus
    :ivar sequence: the order of notifications; 0 for a test
    :ivar due: when it is sent, or sent again (aware UTC)
    :ivar error: why the last attempt failed
    :ivar status: the HTTP status of the last response; None without one
    :ivar finished_at: when it was delivered, or became dead (aware UTC)
    """

    seq: int
    id: str
    webhook_id: str
    message_id: str
    sequence: int
    lease_id: str | None
    event_type: str
    payload: Mapping[str, Any]
    state: DeliveryState
    attempts: int
    due: datetime.datetime
    error: str | None
    status: int | None
    created_at: datetime.datetime
    finished_at: datetime.datetime | None

    @property
    def next_attempt_at(self) -> datetime.datetime | None:
        """When it is sent, or sent again (aware UTC); None once that is over."""
        return self.due if self.finished_at is None else None


def matches(pattern: str, event_type: str) -> bool:
    """Whether a type is *pattern*, or begins as it does up to the ``*``."""
    if pattern.endswith(_ANYTHING):
        return event_type.startswith(pattern.removesuffix(_ANYTHING))
    return pattern == event_type
