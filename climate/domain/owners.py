# SPDX-License-Identifier: Apache-2.0

"""What works without a token of its user, as long as the user has the rights."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Owner:
    """A user of a project, with webhooks or feeds of one kind.

    :ivar privileged: whether those need a special right: webhooks for all projects, and feeds
        of resources
    """

    project_id: str
    user_id: str
    privileged: bool


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StoppedSubscription:
    """A webhook or a feed that was stopped.

    :ivar name: for people; may be empty
    """

    id: str
    name: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class TrustOwner:
    """The user who has given a trust to a lease that is not over.

    :ivar lost_reason: why the trust was of no use when it was last checked; None if it was not
    """

    project_id: str
    user_id: str
    trust_id: str
    lease_id: str
    lost_reason: str | None
