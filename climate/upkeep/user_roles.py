# SPDX-License-Identifier: Apache-2.0

"""What Keystone says of users and of their trusts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from climate import exceptions
from climate.cloud.base import IdentityService
from climate.cloud.protocols.trusts import Trust

T = TypeVar('T')


class KeystoneSilent(Exception):
    """Keystone does not answer, so that nothing may be concluded."""


class UserRoles:
    """The roles of users in projects; a check looks up each user of a project once.

    :param identity: Keystone
    """

    def __init__(self, identity: IdentityService) -> None:
        self._identity = identity
        self._known: dict[tuple[str, str], frozenset[str] | str] = {}

    def of(self, user_id: str, project_id: str) -> frozenset[str] | str:
        """Return the names of the roles of a user, or why they do not count.

        :raises KeystoneSilent: if Keystone does not answer
        """
        key = (user_id, project_id)
        if key not in self._known:
            self._known[key] = self._asked(lambda: self._found(user_id, project_id))
        return self._known[key]

    def trust(self, trust_id: str) -> Trust | None:
        """Return a trust; None if it does not exist.

        :raises KeystoneSilent: if Keystone does not answer
        """
        return self._asked(lambda: self._identity.find_trust(trust_id))

    def _found(self, user_id: str, project_id: str) -> frozenset[str] | str:
        user = self._identity.find_user(user_id)
        project = self._identity.find_project(project_id)
        if user is None or not user.enabled:
            return f'user {user_id} is {"deleted" if user is None else "disabled"}'
        if project is None or not project.enabled:
            return f'project {project_id} is {"deleted" if project is None else "disabled"}'
        return self._identity.list_roles(user_id, project_id)

    def _asked(self, ask: Callable[[], T]) -> T:
        try:
            return ask()
        except exceptions.ClimateError as error:
            raise KeystoneSilent(error.message) from error
