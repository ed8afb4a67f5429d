# SPDX-License-Identifier: Apache-2.0

"""Priorities

Revision: 0031, after 0030. Only adds, so that the code before works on it.
"""

from __future__ import annotations

import sqlalchemy as sa

from climate.db.migrations import additions

revision = '0031'
down_revision = '0030'


def upgrade() -> None:
    """Add the priorities of leases."""
    zero = sa.text('0')
    additions.add_column(
        'leases', sa.Column('priority', sa.Integer(), nullable=False, server_default=zero)
    )
