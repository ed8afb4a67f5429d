# SPDX-License-Identifier: Apache-2.0

"""Periods of a resource as one text, which a database writes and numpy reads.

Drivers make Python objects of each value of each row. That takes most of the time in which the
bookings of a large cloud are loaded, and most of the memory. A text of all periods of a resource
is one value. Each period is an amount, a start and an end, in microseconds since 1970, and a comma
follows each of these numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from climate.allocation.blocks import Bookings
from climate.allocation.steps import LATEST

Rows = Sequence[tuple[int, int, str | None]]
"""Resource id, number of periods, and their text; some databases have none that is too long."""


class CutOff(Exception):
    """The database has cut off a text that is longer than it can write."""


class Microseconds(FunctionElement[int]):
    """An instant as microseconds since 1970."""

    type = sa.BigInteger()
    inherit_cache = True


class PackedPeriods(FunctionElement[str]):
    """The periods of a group of rows as one text; of their amounts, starts and ends."""

    type = sa.Text()
    inherit_cache = True


def periods(amount: sa.ColumnElement[int], start: Any, end: Any) -> PackedPeriods:
    """Return the periods of a group of rows as one text.

    :param start: a column of instants
    :param end: likewise
    """
    return PackedPeriods(amount, Microseconds(start), Microseconds(end))


def bookings(rows: Rows) -> Bookings:
    """Return the periods of some resources as arrays.

    :raises CutOff: if a text is not complete
    """
    if not rows:
        nothing = np.zeros(0, dtype=np.int64)
        return Bookings(resource_ids=nothing, starts=nothing, ends=nothing, amounts=nothing)
    ids = np.array([row[0] for row in rows], dtype=np.int64)
    counts = np.array([row[1] for row in rows], dtype=np.int64)
    texts = [row[2] or '' for row in rows]
    if not all(text.endswith(',') for text in texts):
        raise CutOff
    numbers = np.fromstring(''.join(texts)[:-1], dtype=np.int64, sep=',')
    if len(numbers) != 3 * counts.sum():
        raise CutOff
    amounts, starts, ends = numbers.reshape(-1, 3).T
    return Bookings(
        resource_ids=np.repeat(ids, counts),
        starts=np.clip(starts, 0, LATEST),
        ends=np.clip(ends, 0, LATEST),
        amounts=amounts.copy(),
    )


def let_be_long(session: sa.Connection) -> None:
    """Let texts be longer than 1 MiB, where MariaDB cuts them off by default.

    They still cannot be longer than a packet, which holds some hundred thousand periods: those of
    a resource with more are read as several texts.
    """
    session.exec_driver_sql('SET SESSION group_concat_max_len = 1073741824')


def _parts(element: FunctionElement[Any], compiler: Any, **facts: Any) -> list[str]:
    return [compiler.process(clause, **facts) for clause in element.clauses]


@compiles(Microseconds, 'postgresql')
def _from_postgresql(element: Microseconds, compiler: Any, **facts: Any) -> str:
    (instant,) = _parts(element, compiler, **facts)
    return f'CAST(EXTRACT(epoch FROM {instant}) * 1000000 AS BIGINT)'


@compiles(Microseconds, 'mysql')
@compiles(Microseconds, 'mariadb')
def _from_mysql(element: Microseconds, compiler: Any, **facts: Any) -> str:
    (instant,) = _parts(element, compiler, **facts)
    return f"TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {instant})"


@compiles(Microseconds, 'sqlite')
def _from_sqlite(element: Microseconds, compiler: Any, **facts: Any) -> str:
    # A text with six digits after the point, which strftime would round.
    (instant,) = _parts(element, compiler, **facts)
    return (
        f"(strftime('%s', substr({instant}, 1, 19)) * 1000000"
        f' + CAST(substr({instant}, 21) AS INTEGER))'
    )


@compiles(PackedPeriods, 'postgresql')
def _for_postgresql(element: PackedPeriods, compiler: Any, **facts: Any) -> str:
    parts = ", ',', ".join(_parts(element, compiler, **facts))
    return f"string_agg(concat({parts}, ','), '')"


@compiles(PackedPeriods, 'mysql')
@compiles(PackedPeriods, 'mariadb')
def _for_mysql(element: PackedPeriods, compiler: Any, **facts: Any) -> str:
    parts = ", ',', ".join(_parts(element, compiler, **facts))
    return f"group_concat({parts}, ',' SEPARATOR '')"


@compiles(PackedPeriods, 'sqlite')
def _for_sqlite(element: PackedPeriods, compiler: Any, **facts: Any) -> str:
    parts = " || ',' || ".join(_parts(element, compiler, **facts))
    return f"group_concat({parts} || ',', '')"
