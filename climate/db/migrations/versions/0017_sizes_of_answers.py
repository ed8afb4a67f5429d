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

"""The sizes of the answers to requests with idempotency keys, and encrypted fingerprints

Only adds, so that the previous release runs on it. To that release, the keys of this one name
other requests: it refuses repetitions.
"""

from __future__ import annotations

import sqlalchemy as sa

from climate.db import additions

revision = '0017'
down_revision = '0016'


def upgrade() -> None:
    """Add columns, and an index from which keys are counted without their rows."""
    additions.add_column(
        'idempotency_keys',
        sa.Column('body_size', sa.Integer(), nullable=False, server_default=sa.text('0')),
    )
    additions.add_column(
        'idempotency_keys', sa.Column('sealed_fingerprint', sa.Text(), nullable=True)
    )
    additions.create_index(
        'ix_idempotency_keys_project', 'idempotency_keys', ['project_id', 'expires_at', 'body_size']
    )
