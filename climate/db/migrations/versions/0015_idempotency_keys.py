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

"""Idempotency keys, with the answers to the requests that they name

Only adds, so that the previous release runs on it.
"""

from __future__ import annotations

import sqlalchemy as sa

from climate.db import additions
from climate.db import types

revision = '0015'
down_revision = '0014'


def upgrade() -> None:
    """Add a table."""
    additions.create_table(
        'idempotency_keys',
        sa.Column('id', types.big_id(), nullable=False),
        sa.Column('project_id', types.exact(255), nullable=False),
        sa.Column('idempotency_key', types.exact(255), nullable=False),
        sa.Column('fingerprint', types.exact(64), nullable=False),
        sa.Column('object_id', types.exact(36), nullable=False),
        sa.Column('claim_owner', types.exact(64)),
        sa.Column('claim_until', types.UtcDateTime()),
        sa.Column('status', sa.Integer()),
        sa.Column('headers', types.json_dict(), nullable=False),
        sa.Column('body', types.long_text()),
        sa.Column('created_at', types.UtcDateTime(), nullable=False),
        sa.Column('expires_at', types.UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint('id'),
        sa.UniqueConstraint('project_id', 'idempotency_key', name='uniq_idempotency_keys'),
    )
    additions.create_index('ix_idempotency_keys_expires', 'idempotency_keys', ['expires_at'])
