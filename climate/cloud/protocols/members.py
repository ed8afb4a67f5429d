# SPDX-License-Identifier: Apache-2.0

"""Users, projects, and the roles of users in projects."""

from __future__ import annotations

import dataclasses
from typing import Protocol


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class User:
    """A user.

    :ivar enabled: whether the user can authenticate
    :ivar email: the address in Keystone; '' without one; it may be any text, because
        Keystone does not validate it
    :ivar time_zone: the attribute of this name, which some clouds define; '' without one
    """

    id: str
    name: str
    enabled: bool
    email: str = ''
    time_zone: str = ''


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Project:
    """A project.

    :ivar enabled: whether users can authenticate for it
    """

    id: str
    name: str
    enabled: bool


class Members(Protocol):
    """Operations on users and projects."""

    def find_user(self, user_id: str) -> User | None:
        """Return a user; None if it does not exist."""

    def find_project(self, project_id: str) -> Project | None:
        """Return a project; None if it does not exist."""

    def list_roles(self, user_id: str, project_id: str) -> frozenset[str]:
        """Return the names of the roles that a user has in a project.

        Includes roles of groups, inherited roles and implied roles. Empty if the user or
        project does not exist.
        """
