# SPDX-License-Identifier: Apache-2.0

"""Times of yields

Revision: 0030, after 0029. Only adds, so that the code before works on it.
"""

from __future__ import annotations

import sqlalchemy as sa

from climate.db.migrations import additions
from climate.db.schema import types

revision = '0030'
down_revision = '0029'

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
    """Add how long preemptible leases took to yield."""
    additions.create_table(_YIELD_TIMES)
