# SPDX-License-Identifier: Apache-2.0

"""Controls the users and projects of the simulated cloud."""

from __future__ import annotations

from climate.simulator import keystone
from climate.simulator.control import Control


class KeystoneControl(Control):
    """Controls the simulated Keystone; faults do not affect its methods."""

    def put_member(self, user_id: str, project_id: str, *roles: str) -> str:
        """Replace the roles of a user in a project and return a token.

        Also creates the user and the project if they are missing.
        """
        with self._transaction() as db:
            keystone.put_user(db, user_id)
            keystone.put_project(db, project_id)
            keystone.set_roles(db, user_id, project_id, roles)
        return f'{user_id}:{project_id}'

    def set_enabled(
        self, *, user_id: str | None = None, project_id: str | None = None, enabled: bool
    ) -> None:
        """Enable or disable a user, a project or both; create them if missing."""
        with self._transaction() as db:
            if user_id is not None:
                keystone.put_user(db, user_id, enabled=enabled)
            if project_id is not None:
                keystone.put_project(db, project_id, enabled=enabled)

    def set_email(self, user_id: str, email: str) -> None:
        """Set the email address of a user, created if missing; '' removes it."""
        with self._transaction() as db:
            keystone.put_user(db, user_id)
            keystone.put_email(db, user_id, email)

    def remove_user(self, user_id: str) -> None:
        """Delete a user, with the trusts that the user created."""
        self._remove('DELETE FROM users WHERE id = ?', user_id)

    def remove_project(self, project_id: str) -> None:
        """Delete a project, with its trusts."""
        self._remove('DELETE FROM projects WHERE id = ?', project_id)

    def _remove(self, sql: str, key: str) -> None:
        with self._transaction() as db:
            db.run(sql, key)
