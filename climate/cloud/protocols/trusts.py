# SPDX-License-Identifier: Apache-2.0

"""Trusts, which let a service act on behalf of a user."""

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
    """Operations on trusts; :meth:`climate.cloud.base.Cloud.acting_for` uses a trust.

    A trust disappears when it expires, or its user or project is deleted. It exists, but
    cannot be used, while the user lacks one of the roles, or the user or project is
    disabled.
    """

    def create_trust(
        self,
        token: str,
        *,
        roles: frozenset[str],
        expires_at: datetime.datetime | None = None,
        redelegate: bool = False,
    ) -> Trust:
        """Create a trust from the owner of a token to the service user.

        The trust is for the project of the token. Not idempotent.

        :param roles: the names of the roles; any roles of the token work with
            :meth:`climate.cloud.base.Cloud.acting_for`
        :param expires_at: aware; None if the trust lasts until it is deleted
        :param redelegate: whether a service that is called with this trust may delegate
            it further, once. Heat does this to create a stack, with all roles of a
            token of the trust, so *roles* must include the roles that others imply.
            Deleting the trust also deletes the trusts that Heat derived from it.
        :raises CloudNotFound: if the token lacks one of the roles
        :raises climate.exceptions.Permanent: if the token is not valid or has no
            project, or *expires_at* is in the past
        """

    def find_trust(self, trust_id: str) -> Trust | None:
        """Return a trust; None if it does not exist."""

    def list_trusts(self) -> tuple[Trust, ...]:
        """Return the trusts whose trustee is the service user, by id.

        Without their roles, which Keystone does not list.
        """

    def delete_trust(self, trust_id: str) -> None:
        """Delete a trust; a no-op if it does not exist."""
