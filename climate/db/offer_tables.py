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

"""The table of stored offers, as SQLAlchemy describes it."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from climate.db import types
from climate.db.metadata import METADATA
from climate.db.metadata import MYSQL

OFFERS: Final = sa.Table(
    'offers',
    METADATA,
    sa.Column('id', types.exact(36), primary_key=True),
    sa.Column('project_id', types.exact(255), nullable=False),
    sa.Column('user_id', types.exact(255), nullable=False),
    sa.Column('request', types.long_text(), nullable=False),
    sa.Column('content', types.json_dict(), nullable=False),
    sa.Column('created_at', types.UtcDateTime(), nullable=False),
    sa.Column('expires_at', types.UtcDateTime(), nullable=False),
    sa.Column('held_until', types.UtcDateTime()),
    sa.Column('released_at', types.UtcDateTime()),
    sa.Column('lease_id', types.exact(36)),
    sa.Index('ix_offers_expires', 'expires_at'),
    sa.Index('ix_offers_held', 'held_until'),
    sa.Index('ix_offers_released', 'released_at'),
    sa.Index('ix_offers_project', 'project_id', 'held_until'),
    **MYSQL,
)
"""An offer that a project can take; see :mod:`climate.db.offers`.

``held_until`` is set only while the resources of the offer are held, and ``released_at``
once its hold has expired and they are not.
"""
