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

"""Charges that the filters of leases have not received yet

Only adds, so that the previous release runs on it.
"""

from __future__ import annotations

import sqlalchemy as sa

from climate.db import additions
from climate.db import types

revision = '0004'
down_revision = '0003'


def upgrade() -> None:
    """Add a table."""
    additions.create_table(
        'charges',
        sa.Column('seq', types.big_id(), autoincrement=True, nullable=False),
        sa.Column('charge_id', types.exact(36), nullable=False),
        sa.Column('judge', types.exact(64), nullable=False),
        sa.Column('lease_id', types.exact(36), nullable=False),
        sa.Column('state', types.exact(16), nullable=False),
        sa.Column('payload', types.json_dict(), nullable=False),
        sa.Column('due', types.UtcDateTime(), nullable=False),
        sa.Column('attempts', sa.Integer(), nullable=False),
        sa.Column('error', sa.Text(), nullable=True),
        sa.Column('created_at', types.UtcDateTime(), nullable=False),
        sa.Column('claim_owner', types.exact(64), nullable=True),
        sa.Column('claim_until', types.UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint('seq'),
    )
    additions.create_index('ix_charges_charge', 'charges', ['charge_id'])
    additions.create_index('ix_charges_due', 'charges', ['state', 'due'])
    additions.create_index('ix_charges_lease', 'charges', ['lease_id', 'seq'])
