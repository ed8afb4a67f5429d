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
"""Steps: what effects did, for the owner of the lease

Only adds, so that the previous release runs on it.
"""

from __future__ import annotations

import sqlalchemy as sa

from climate.db import additions
from climate.db import types

revision = '0007'
down_revision = '0006'


def upgrade() -> None:
    """Add a table."""
    additions.create_table(
        'steps',
        sa.Column('id', types.big_id(), autoincrement=True, nullable=False),
        sa.Column('lease_id', types.exact(36), nullable=False),
        sa.Column('event_id', types.exact(36), nullable=False),
        sa.Column('reservation_id', types.exact(36), nullable=True),
        sa.Column('resource_type', types.exact(64), nullable=True),
        sa.Column('effect', types.exact(16), nullable=False),
        sa.Column('state', types.exact(16), nullable=False),
        sa.Column('attempts', sa.Integer(), nullable=False),
        sa.Column('first_at', types.UtcDateTime(), nullable=False),
        sa.Column('last_at', types.UtcDateTime(), nullable=False),
        sa.Column('detail', types.json_dict(), nullable=False),
        # The previous release deletes leases and does not know their steps.
        sa.ForeignKeyConstraint(['lease_id'], ['leases.id'], ondelete='CASCADE'),
        sa.PrimaryKeyConstraint('id'),
    )
    additions.create_index('ix_steps_lease', 'steps', ['lease_id', 'event_id'])
