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
