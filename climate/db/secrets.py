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

"""Queries of secrets that all processes share, created when one first needs them."""

from __future__ import annotations

import sqlalchemy as sa

from climate.db.repository import Repository
from climate.db.tables import SECRETS


class Secrets(Repository):
    """Rows of ``secrets``."""

    def find(self, name: str) -> str | None:
        """Return a secret; None if there is none yet."""
        return self._session.scalar(sa.select(SECRETS.c.value).where(SECRETS.c.name == name))

    def update(self, name: str, value: str) -> None:
        """Replace a secret."""
        self._session.execute(sa.update(SECRETS).where(SECRETS.c.name == name).values(value=value))

    def insert(self, name: str, value: str) -> None:
        """Insert a secret.

        :raises oslo_db.exception.DBDuplicateEntry: if another process was first;
            :meth:`climate.db.store.Store.run` then retries
        """
        self._session.execute(
            sa.insert(SECRETS).values(name=name, value=value, created_at=self._now)
        )
