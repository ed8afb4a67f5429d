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

"""The table of shortages, as SQLAlchemy describes it."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from climate.db import types
from climate.db.metadata import METADATA
from climate.db.metadata import MYSQL

SHORTAGES: Final = sa.Table(
    'shortages',
    METADATA,
    sa.Column('resource_id', sa.Integer(), nullable=False, autoincrement=False),
    sa.Column('resource_class', types.exact(255), nullable=False),
    sa.Column('capacity', sa.Double(), nullable=False),
    sa.PrimaryKeyConstraint('resource_id', 'resource_class'),
    **MYSQL,
)
"""What the cloud has of a class of which more is booked; see :mod:`climate.db.shortages`."""
