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

"""Types that operators declare, failed resources, maintenance windows

Only adds, so that the previous release runs on it.
"""

from __future__ import annotations

import sqlalchemy as sa

from climate.db import additions
from climate.db import types

revision = '0002'
down_revision = '0001'


def upgrade() -> None:
    """Add two tables and a column."""
    additions.add_column('resources', sa.Column('failed_at', types.UtcDateTime(), nullable=True))
    additions.create_table(
        'resource_types',
        sa.Column('name', types.exact(64), nullable=False),
        sa.Column('declaration', types.json_dict(), nullable=False),
        sa.Column('created_at', types.UtcDateTime(), nullable=True),
        sa.Column('updated_at', types.UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint('name'),
    )
    additions.create_table(
        'maintenances',
        sa.Column('id', types.exact(36), nullable=False),
        sa.Column('resource_id', sa.Integer(), nullable=False),
        sa.Column('start_date', types.UtcDateTime(), nullable=False),
        sa.Column('end_date', types.UtcDateTime(), nullable=False),
        sa.Column('reason', types.exact_text(), nullable=False),
        sa.Column('user_id', types.exact(255), nullable=False),
        sa.Column('created_at', types.UtcDateTime(), nullable=True),
        sa.Column('updated_at', types.UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(['resource_id'], ['resources.id']),
        sa.PrimaryKeyConstraint('id'),
    )
    additions.create_index(
        'ix_maintenances_resource', 'maintenances', ['resource_id', 'end_date', 'start_date']
    )
