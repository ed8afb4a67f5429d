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

"""The keys by which resources are sorted in natural order of their names.

They are stored, so that an index has them in order, and engines have no function for them.
"""

from __future__ import annotations

from typing import Any
from typing import Final

import sqlalchemy as sa

from climate.domain.natural_order import sort_key

_BATCH: Final = 1000
# Not the tables of this release: the migration that adds the column runs this too.
_TABLE: Final = sa.table('resources', *map(sa.column, ('id', 'name', 'sort_name', 'generation')))
_MISSING: Final = (
    sa.select(_TABLE.c.id, _TABLE.c.name)
    .where(_TABLE.c.sort_name == '', _TABLE.c.id > sa.bindparam('after'))
    .order_by(_TABLE.c.id)
    .limit(_BATCH)
)
_FILL: Final = (
    sa.update(_TABLE)
    .where(_TABLE.c.id == sa.bindparam('row_id'))
    # Pages of the calendar that clients have are out of date.
    .values(sort_name=sa.bindparam('key'), generation=_TABLE.c.generation + 1)
)


def fill(connection: sa.Connection) -> None:
    """Add the keys of resources that have none, such as those of the previous release."""
    after: Any = 0
    while found := connection.execute(_MISSING, {'after': after}).all():
        connection.execute(_FILL, [{'row_id': row.id, 'key': sort_key(row.name)} for row in found])
        after = found[-1].id
