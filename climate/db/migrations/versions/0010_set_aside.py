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


"""Attempts to send notifications, and those that are set aside

Only adds, so that the previous release runs on it.
"""

from __future__ import annotations

import sqlalchemy as sa

from climate.db import additions
from climate.db import types

revision = '0010'
down_revision = '0009'


def upgrade() -> None:
    """Add columns."""
    additions.add_column(
        'outbox', sa.Column('attempts', sa.Integer(), nullable=False, server_default=sa.text('0'))
    )
    additions.add_column('outbox', sa.Column('due', types.UtcDateTime(), nullable=True))
    additions.add_column('outbox', sa.Column('error', sa.Text(), nullable=True))
    additions.add_column('outbox', sa.Column('set_aside_at', types.UtcDateTime(), nullable=True))
