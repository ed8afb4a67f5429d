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

"""Deletions

Only adds, so that the previous release runs on it.
"""

from __future__ import annotations

import sqlalchemy as sa

from climate.db import additions
from climate.db import types

revision = '0023'
down_revision = '0022'


def upgrade() -> None:
    """Add the table in which owners find what was deleted, and why."""
    additions.create_table(
        'deletions',
        sa.Column('seq', types.big_id(), nullable=False),
        sa.Column('lease_id', types.exact(36), nullable=False),
        sa.Column('reservation_id', types.exact(36), nullable=True),
        sa.Column('event_id', types.exact(36), nullable=True),
        sa.Column('event', types.exact(32), nullable=False),
        sa.Column('object_type', types.exact(32), nullable=False),
        sa.Column('object_id', types.exact(255), nullable=False),
        sa.Column('name', types.exact(255), nullable=False),
        sa.Column('project_id', types.exact(255), nullable=False),
        sa.Column('host', types.exact(255), nullable=False),
        sa.Column('reason', types.exact(255), nullable=False),
        sa.Column('at', types.UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint('seq'),
    )
    additions.create_index('ix_deletions_lease', 'deletions', ['lease_id', 'seq'])
