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

"""Rules of booking that the database enforces itself

Only adds, so that the previous release runs on it; the database refuses its double
bookings. Changes nothing if there are double bookings already.
"""

from __future__ import annotations

from alembic import op

from climate import exceptions
from climate.db import guards
from climate.db import overbookings

revision = '0009'
down_revision = '0008'


def upgrade() -> None:
    """Check all live allocations, then add constraints and triggers."""
    connection = op.get_bind()
    found = overbookings.find(connection)
    if found:
        raise exceptions.Conflict(overbookings.complaint(found))
    guards.install(connection)
