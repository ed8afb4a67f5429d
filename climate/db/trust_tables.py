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

"""The table of trusts, as SQLAlchemy describes it."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from climate.db import types
from climate.db.metadata import METADATA
from climate.db.metadata import MYSQL

TRUSTS: Final = sa.Table(
    'trusts',
    METADATA,
    sa.Column('id', types.exact(64), primary_key=True),
    sa.Column('lease_id', types.exact(36)),
    sa.Column('made_at', types.UtcDateTime(), nullable=False),
    sa.Column('expires_at', types.UtcDateTime()),
    sa.Column('user_id', types.exact(255)),
    sa.Column('project_id', types.exact(255)),
    sa.Column('lost_reason', types.OutsideText()),
    **MYSQL,
)
"""A Keystone trust that is not deleted yet; see :mod:`climate.db.trusts`.

``lost_reason`` says why it is of no use, and is null while it is.
"""
