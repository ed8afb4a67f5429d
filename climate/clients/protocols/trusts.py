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

"""Trusts, with which users let a service act in their name."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Protocol


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Trust:
    """The right to act for a user, with some of the user's roles in one project.

    :ivar roles: their names, in alphabetical order
    :ivar expires_at: aware UTC; None if it lasts until it is deleted
    """

    id: str
    trustor_user_id: str
    trustee_user_id: str
    project_id: str
    roles: tuple[str, ...]
    expires_at: datetime.datetime | None


class TrustVerbs(Protocol):
    """Verbs about trusts; :meth:`climate.clients.base.Cloud.acting_for` uses them.

    A trust is gone as soon as it has expired, or its user or project was
    deleted. While the user lacks one of the roles, or user or project is
    disabled, it is there and does not help.
    """

    def create_trust(
        self,
        token: str,
        *,
        roles: frozenset[str],
        expires_at: datetime.datetime | None = None,
        redelegate: bool = False,
    ) -> Trust:
        """Let the owner of a token trust us, in the project of the token.

        Repeating it makes another trust.

        :param roles: their names; all that the token has of them will do for
            :meth:`climate.clients.base.Cloud.acting_for`
        :param expires_at: aware
        :param redelegate: whether a service that is called with this trust may
            hand it on, once. Heat has to, to make a stack, and hands on all
            roles that a token of the trust has: those that are implied by
            others must be among *roles*. What it was handed is gone with the
            trust.
        :raises CloudNotFound: if the token lacks one of the roles
        :raises climate.exceptions.Permanent: if the token is not valid, or has
            no project, or *expires_at* is over
        """
        ...

    def find_trust(self, trust_id: str) -> Trust | None:
        """Return a trust; None if there is none, or none any more."""
        ...

    def delete_trust(self, trust_id: str) -> None:
        """Remove a trust; fine if it is gone already."""
        ...
