# SPDX-License-Identifier: Apache-2.0

"""Queries of secrets that all processes share, created when one first needs them."""

from __future__ import annotations

import sqlalchemy as sa

from climate.db.schema.tables import SECRETS
from climate.db.statements.repository import Repository


class Secrets(Repository):
    """Rows of ``secrets``."""

    def find(self, name: str) -> str | None:
        """Return a secret; None if there is none yet."""
        return self._session.scalar(sa.select(SECRETS.c.value).where(SECRETS.c.name == name))

    def update(self, name: str, value: str) -> None:
        """Replace a secret."""
        self._update_rows(SECRETS, SECRETS.c.name == name, value=value)

    def insert(self, name: str, value: str) -> None:
        """Insert a secret.

        :raises oslo_db.exception.DBDuplicateEntry: if another process was first;
            :meth:`climate.db.transactions.store.Store.run` then retries
        """
        self._insert_row(SECRETS, name=name, value=value, created_at=self._now)
