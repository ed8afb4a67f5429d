# SPDX-License-Identifier: Apache-2.0

"""How far the clock of the database is from that of this process."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Final

import sqlalchemy as sa

from climate.clock import Clock

_COMPARISONS: Final = 3
# The current time of the database in UTC, not that at which the transaction began.
_MYSQL_CLOCK: Final = sa.text('SELECT UTC_TIMESTAMP(6)')
_CLOCKS: Final = {
    'mysql': _MYSQL_CLOCK,
    'mariadb': _MYSQL_CLOCK,
    'postgresql': sa.text("SELECT clock_timestamp() AT TIME ZONE 'UTC'"),
}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """The difference between the clock of the database and that of this process.

    :ivar offset: the time of the database minus the local time
    :ivar uncertainty: half of the duration of the query
    """

    offset: datetime.timedelta = datetime.timedelta(0)
    uncertainty: datetime.timedelta = datetime.timedelta(0)


def measured(session: sa.Connection, clock: Clock) -> Difference:
    """Compare the clock of the database with the local one; with SQLite they are the same."""
    ask = _CLOCKS.get(session.dialect.name)
    if ask is None:
        return Difference()
    # The first statement may have to connect, and each may have to wait for a
    # processor: the fastest measurement is the most precise.
    differences = [_measured(session, ask, clock) for _ in range(_COMPARISONS)]
    return min(differences, key=lambda one: one.uncertainty)


def _measured(session: sa.Connection, ask: sa.TextClause, clock: Clock) -> Difference:
    before = clock.now()
    theirs = session.execute(ask).scalar_one().replace(tzinfo=datetime.UTC)
    half = (clock.now() - before) / 2
    return Difference(offset=theirs - before - half, uncertainty=half)
