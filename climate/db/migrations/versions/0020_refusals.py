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

"""Refused demand

Only adds, so that the previous release runs on it.
"""

from __future__ import annotations

import sqlalchemy as sa

from climate.db import additions
from climate.db import types

revision = '0020'
down_revision = '0019'


def upgrade() -> None:
    """Add the table that usage reports read refusals from."""
    additions.create_table(
        'refusals',
        sa.Column('day', sa.Date(), nullable=False),
        sa.Column('project_id', types.exact(255), nullable=False),
        sa.Column('resource_type', types.exact(64), nullable=False),
        sa.Column('resource_class', types.exact(255), nullable=False),
        sa.Column('requests', sa.BigInteger(), nullable=False),
        sa.Column('amount', sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint('day', 'project_id', 'resource_type', 'resource_class'),
    )
