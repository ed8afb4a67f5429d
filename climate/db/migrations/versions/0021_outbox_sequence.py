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
"""Never give the number of a notification twice on SQLite.

Only SQLite changes: the other engines never give a number again. The previous release runs
on it.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from climate.db import additions

revision = '0021'
down_revision = '0020'


def upgrade() -> None:
    """Count on from the highest number that was ever given."""
    if op.get_bind().dialect.name != 'sqlite':
        return
    additions.recreate_on_sqlite('outbox', sqlite_autoincrement=True)
    last = sa.text(
        'SELECT max(coalesce((SELECT max(seq) FROM outbox), 0),'
        ' coalesce((SELECT max(sequence) FROM webhook_deliveries), 0))'
    )
    number = op.get_bind().scalar(last)
    op.execute("DELETE FROM sqlite_sequence WHERE name = 'outbox'")
    op.execute(
        sa.text("INSERT INTO sqlite_sequence (name, seq) VALUES ('outbox', :number)").bindparams(
            number=number
        )
    )
