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

"""Things of projects, and secrets that processes share

Only adds, so that the previous release runs on it.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from climate.db import additions
from climate.db import types

revision = '0011'
down_revision = '0010'

_TYPES = ('virtual:server', 'virtual:volume', 'virtual:stack')


def upgrade() -> None:
    """Add a column and a table, and set the projects of existing things."""
    additions.add_column('resources', sa.Column('project_id', types.exact(255), nullable=True))
    additions.create_table(
        'secrets',
        sa.Column('name', types.exact(64), nullable=False),
        sa.Column('value', types.exact(255), nullable=False),
        sa.Column('created_at', types.UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint('name'),
    )
    _give()


def _give() -> None:
    """Assign each thing to the project that leased it last; to '' without a lease."""
    resources = sa.table('resources', *map(sa.column, ('id', 'resource_type', 'project_id')))
    allocations = sa.table('allocations', *map(sa.column, ('id', 'resource_id', 'reservation_id')))
    reservations = sa.table('reservations', *map(sa.column, ('id', 'lease_id')))
    leases = sa.table('leases', *map(sa.column, ('id', 'project_id')))
    last = (
        sa.select(leases.c.project_id)
        .select_from(allocations)
        .join(reservations, reservations.c.id == allocations.c.reservation_id)
        .join(leases, leases.c.id == reservations.c.lease_id)
        .where(allocations.c.resource_id == resources.c.id)
        .order_by(allocations.c.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    op.execute(
        sa.update(resources)
        .where(resources.c.resource_type.in_(_TYPES))
        .values(project_id=sa.func.coalesce(last, ''))
    )
