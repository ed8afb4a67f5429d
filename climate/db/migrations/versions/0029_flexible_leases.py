# SPDX-License-Identifier: Apache-2.0

"""Flexible leases

Revision: 0029, after 0028. Only adds, so that the code before works on it.
"""

from __future__ import annotations

import sqlalchemy as sa

from climate.db.migrations import additions
from climate.db.schema import types

revision = '0029'
down_revision = '0028'


def upgrade() -> None:
    """Add when a flexible lease stops moving."""
    additions.add_column('leases', sa.Column('firm_at', types.UtcDateTime()))
    additions.create_index('ix_leases_firm_at', 'leases', ['firm_at'])
