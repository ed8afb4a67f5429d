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

"""Intents: objects about to be created in the cloud for unbooked leases

Only adds, so that the previous release runs on it.
"""

from __future__ import annotations

import sqlalchemy as sa

from climate.db import additions
from climate.db import types

revision = '0013'
down_revision = '0012'


def upgrade() -> None:
    """Add a table."""
    additions.create_table(
        'intents',
        sa.Column('reservation_id', types.exact(36), nullable=False),
        sa.Column('resource_type', types.exact(64), nullable=False),
        sa.Column('project_id', types.exact(255), nullable=False),
        sa.Column('written_at', types.UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint('reservation_id'),
    )
