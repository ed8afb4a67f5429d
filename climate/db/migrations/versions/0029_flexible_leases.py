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

_YIELD_TIMES = sa.Table(
    'yield_times',
    sa.MetaData(),
    sa.Column('seq', types.big_id(), primary_key=True),
    sa.Column('resource_type', types.exact(64), nullable=False),
    sa.Column('mode', types.exact(16), nullable=False),
    sa.Column('units', sa.Integer(), nullable=False),
    sa.Column('seconds', sa.Integer(), nullable=False),
    sa.Column('created_at', types.UtcDateTime(), nullable=False),
    sa.Index('ix_yield_times_type', 'resource_type', 'mode', 'seq'),
)


def upgrade() -> None:
    """Add when a flexible lease stops moving, and how long preemptible ones took to yield."""
    additions.add_column('leases', sa.Column('firm_at', types.UtcDateTime()))
    additions.create_index('ix_leases_firm_at', 'leases', ['firm_at'])
    additions.create_table(_YIELD_TIMES)
