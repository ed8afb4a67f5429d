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


"""The table of deletions, as SQLAlchemy describes it."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from climate.db import types
from climate.db.metadata import METADATA
from climate.db.metadata import MYSQL

DELETIONS: Final = sa.Table(
    'deletions',
    METADATA,
    sa.Column('seq', types.big_id(), primary_key=True),
    sa.Column('lease_id', types.exact(36), nullable=False),
    sa.Column('reservation_id', types.exact(36)),
    sa.Column('event_id', types.exact(36)),
    sa.Column('event', types.exact(32), nullable=False),
    sa.Column('object_type', types.exact(32), nullable=False),
    sa.Column('object_id', types.exact(255), nullable=False),
    sa.Column('name', types.exact(255), nullable=False),
    sa.Column('project_id', types.exact(255), nullable=False),
    sa.Column('host', types.exact(255), nullable=False),
    sa.Column('reason', types.exact(255), nullable=False),
    sa.Column('at', types.UtcDateTime(), nullable=False),
    sa.Index('ix_deletions_lease', 'lease_id', 'seq'),
    **MYSQL,
)
"""An object of a user that was deleted for a lease; see :mod:`climate.db.deletions`."""
