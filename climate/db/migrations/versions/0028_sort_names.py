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

"""Sort names

Only adds, so that the previous release runs on it. What that release registers has no key, until
climate-manage db sync runs again.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from climate.db import additions
from climate.db import sort_names
from climate.db import types

revision = '0028'
down_revision = '0027'


def upgrade() -> None:
    """Add the keys by which resources are sorted, with an index."""
    additions.add_column(
        'resources', sa.Column('sort_name', types.exact(255), nullable=False, server_default='')
    )
    sort_names.fill(op.get_bind())
    additions.create_index(
        'ix_resources_order', 'resources', ['resource_type', 'deleted', 'sort_name', 'id']
    )
    additions.create_index('ix_leases_user', 'leases', ['user_id', 'created_at', 'id'])
