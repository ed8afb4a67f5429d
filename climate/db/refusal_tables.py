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

"""The table of refused demand, as SQLAlchemy describes it."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from climate.db import types
from climate.db.metadata import METADATA
from climate.db.metadata import MYSQL

REFUSALS: Final = sa.Table(
    'refusals',
    METADATA,
    sa.Column('day', sa.Date(), primary_key=True),
    sa.Column('project_id', types.exact(255), primary_key=True),
    sa.Column('resource_type', types.exact(64), primary_key=True),
    sa.Column('resource_class', types.exact(255), primary_key=True),
    sa.Column('requests', sa.BigInteger(), nullable=False),
    sa.Column('amount', sa.BigInteger(), nullable=False),
    **MYSQL,
)
"""What leases were refused for lack of resources, by day; see :mod:`climate.db.refusals`.

``resource_class`` is empty for whole resources. ``amount`` is in units multiplied by seconds.
"""
