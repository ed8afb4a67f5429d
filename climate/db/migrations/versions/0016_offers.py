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

"""Stored offers, whose resources can be held

Only adds, so that the previous release runs on it.
"""

from __future__ import annotations

import sqlalchemy as sa

from climate.db import additions
from climate.db import types

revision = '0016'
down_revision = '0015'


def upgrade() -> None:
    """Add a table."""
    additions.create_table(
        'offers',
        sa.Column('id', types.exact(36), nullable=False),
        sa.Column('project_id', types.exact(255), nullable=False),
        sa.Column('user_id', types.exact(255), nullable=False),
        sa.Column('request', types.long_text(), nullable=False),
        sa.Column('content', types.json_dict(), nullable=False),
        sa.Column('created_at', types.UtcDateTime(), nullable=False),
        sa.Column('expires_at', types.UtcDateTime(), nullable=False),
        sa.Column('held_until', types.UtcDateTime()),
        sa.Column('released_at', types.UtcDateTime()),
        sa.Column('lease_id', types.exact(36)),
        sa.PrimaryKeyConstraint('id'),
    )
    additions.create_index('ix_offers_expires', 'offers', ['expires_at'])
    additions.create_index('ix_offers_held', 'offers', ['held_until'])
    additions.create_index('ix_offers_released', 'offers', ['released_at'])
    additions.create_index('ix_offers_project', 'offers', ['project_id', 'held_until'])
