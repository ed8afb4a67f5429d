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

"""Chores: periodic work that one manager at a time does

Only adds, so that the previous release runs on it.
"""

from __future__ import annotations

import sqlalchemy as sa

from climate.db import additions
from climate.db import types

revision = '0003'
down_revision = '0002'


def upgrade() -> None:
    """Add a table."""
    additions.create_table(
        'chores',
        sa.Column('name', types.exact(64), nullable=False),
        sa.Column('begun_at', types.UtcDateTime(), nullable=False),
        sa.Column('claim_owner', types.exact(64), nullable=True),
        sa.Column('claim_until', types.UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint('name'),
    )
