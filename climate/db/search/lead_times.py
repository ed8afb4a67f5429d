# SPDX-License-Identifier: Apache-2.0

"""How long resources need to get ready, for one transaction."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection
from collections.abc import Mapping
from typing import Final

import sqlalchemy as sa

from climate.db.resources import properties
from climate.db.schema.tables import PROPERTIES
from climate.db.statements.lists import Among
from climate.db.statements.repository import Repository

LEAD_TIME: Final = sa.select(sa.func.max(PROPERTIES.c.number)).where(
    PROPERTIES.c.name == sa.literal_column(f"'{properties.LEAD_TIME}'"),
    PROPERTIES.c.kind == sa.literal_column(f"'{properties.CAPABILITY}'"),
)
"""The statement for the longest lead time, which lacks the condition on the resources."""
_OF_SOME = LEAD_TIME.where(PROPERTIES.c.resource_id.in_(sa.bindparam('ids')))
_OF_EACH = sa.select(PROPERTIES.c.resource_id, PROPERTIES.c.number).where(
    PROPERTIES.c.name == sa.literal_column(f"'{properties.LEAD_TIME}'"),
    PROPERTIES.c.kind == sa.literal_column(f"'{properties.CAPABILITY}'"),
    Among(PROPERTIES.c.resource_id, 'ids'),
)
# A year, in seconds; operators can set any number.
_LONGEST = 366 * 86400


@dataclasses.dataclass(eq=False)
class LeadTimes(Repository):
    """Lead times in ``properties``; remembers those that other statements have read."""

    _known: dict[int, float | None] = dataclasses.field(default_factory=dict)

    def remember(self, found: Mapping[int, float | None]) -> None:
        """Remember the lead times of resources, in seconds."""
        self._known.update(found)

    def read(self, resource_ids: Collection[int]) -> None:
        """Read the lead times of resources that are to be asked for several times."""
        ids = {*resource_ids} - self._known.keys()
        if ids:
            rows = self._session.execute(_OF_EACH, {'ids': sorted(ids)})
            self.remember({**dict.fromkeys(ids), **{row.resource_id: row.number for row in rows}})

    def longest(self, resource_ids: Collection[int]) -> int | None:
        """Return how long the slowest of the resources needs to get ready, in seconds.

        The statement does not run if all are remembered::

            SELECT max(number) FROM properties
            WHERE resource_id IN (…) AND name = 'lead_time' AND kind = 'capability'

        :returns: None if none of them has the capability
        """
        if not resource_ids:
            return None
        longest: float | None
        if self._known.keys() >= set(resource_ids):
            longest = max(self._known[resource_id] or 0 for resource_id in resource_ids)
        else:
            longest = self._session.scalar(_OF_SOME, {'ids': list(resource_ids)})
        return None if longest is None or longest <= 0 else math.ceil(min(longest, _LONGEST))
