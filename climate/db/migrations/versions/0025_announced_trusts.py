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

"""Announced trusts

Only adds, so that the previous release runs on it.
"""

from __future__ import annotations

import sqlalchemy as sa

from climate.db import additions
from climate.db import types

revision = '0025'
down_revision = '0024'


def upgrade() -> None:
    """Add the columns by which a trust is recognized whose answer was lost."""
    additions.add_column('trusts', sa.Column('user_id', types.exact(255), nullable=True))
    additions.add_column('trusts', sa.Column('project_id', types.exact(255), nullable=True))
