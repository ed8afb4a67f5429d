# SPDX-License-Identifier: Apache-2.0

"""Runs migrations for Alembic, online only, on the connection of the caller."""

from __future__ import annotations

from alembic import context

from climate.db.schema import tables

connection = context.config.attributes['connection']
context.configure(
    connection=connection,
    target_metadata=tables.METADATA,
    # SQLite cannot alter a table in place.
    render_as_batch=connection.dialect.name == 'sqlite',
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
