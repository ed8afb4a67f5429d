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

"""Projects, with a row that serializes the bookings of each

Only adds, so that the previous release runs on it. That one does not count, so limits
hold once all processes run this release.
"""

from __future__ import annotations

import sqlalchemy as sa

from climate.db import additions
from climate.db import types

revision = '0014'
down_revision = '0013'


def upgrade() -> None:
    """Add a table; a project gets its row with its next lease."""
    additions.create_table(
        'projects',
        sa.Column('id', types.exact(255), nullable=False),
        sa.Column('generation', sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint('id'),
    )
