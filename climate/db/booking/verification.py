# SPDX-License-Identifier: Apache-2.0

"""Checks what a transaction has booked, as its last statement before the commit.

The transaction has locked the rows of all resources on which it books
(:mod:`climate.db.booking.writer`), so the commit cannot differ from what is read here.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Collection
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from climate import exceptions
from climate.db.booking import windows
from climate.domain.periods import Period


class LostRace(exceptions.BookedMeanwhile):
    """Another transaction has changed what a choice was based on; choose again."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Addition:
    """What a transaction has booked in addition to what was booked before.

    :ivar resource_class: None if the whole resource is booked
    :ivar period: the new part of the period
    :ivar clear: *period*, extended by the cleaning time where it applies; no other
        allocation may overlap it if either has the whole resource
    :ivar fresh: whether the allocation is new, rather than extended
    """

    resource_id: int
    resource_class: str | None
    period: Period
    clear: Period
    fresh: bool


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Violation:
    """Why a resource cannot be booked.

    :ivar resource_class: None if no class is concerned
    :ivar peak: the largest number of its units that are booked at one instant
    :ivar why: for the log
    """

    resource_id: int
    name: str
    resource_class: str | None
    peak: int
    why: str


def verify(
    session: sa.Connection, additions: Iterable[Addition], *, own: Collection[str] = ()
) -> None:
    """Check that the resources have the capacity for what was written.

    :param additions: what the transaction has booked
    :param own: ids of the reservations for which it books
    :raises LostRace: if the capacity is exceeded
    """
    violated = violations(session, additions, own=own)
    if violated:
        raise LostRace from Overbooked('; '.join(f'{one.name}: {one.why}' for one in violated))


class Overbooked(Exception):
    """Why a booking was refused, for the log."""


def violations(
    session: sa.Connection, additions: Iterable[Addition], *, own: Collection[str] = ()
) -> list[Violation]:
    """Return what is wrong, found by one statement; an empty list if nothing is.

    Each addition defines a window on a resource. Where a whole resource was added, the
    statement counts other allocations in the window::

        SELECT * FROM (
            SELECT r.id, …, … AS shut, … AS away,
                   (SELECT COUNT(*) FROM allocations a
                    WHERE a.resource_id = r.id AND a.live = 1
                      AND a.end_date > :clear_from
                      AND a.start_date < :clear_until) - 1 + … AS others
            FROM resources r WHERE r.id IN (…)) found
        WHERE found.shut = 1 OR found.away = 1 OR found.others > 0

    Where an amount was added, it finds the peak of use within the window, by visiting all
    starts and ends in order, ends first::

        WITH windows AS (SELECT r.id, …, :from AS start_date, :until AS end_date
                         FROM resources r LEFT JOIN inventories i ON … WHERE r.id IN (…)
                         UNION ALL …),
             uses AS (SELECT windows.*, a.* FROM windows JOIN allocations a ON …
                      UNION ALL SELECT windows.*, …, 0 FROM windows),
             steps AS (… each use twice: at its start and at its end …),
             levels AS (SELECT …, SUM(delta) OVER (PARTITION BY … ORDER BY at, delta) …)
        SELECT id, …, MAX(level) FROM levels GROUP BY id, …
        HAVING … OR MAX(level) > units * ratio

    Only windows count: overbooking that existed before, in another period or of another
    class, is no reason for a refusal.
    """
    wholes, parts = _shapes(additions)
    if not (wholes or parts):
        return []
    alone = len(own) == 1 and all(len(ids) == 1 for ids in (*wholes.values(), *parts.values()))
    values: dict[str, Any] = {'own': next(iter(own)) if alone else list(own)}
    for prefix, shapes in (('w', wholes), ('p', parts)):
        for number, (shape, ids) in enumerate(shapes.items()):
            which = next(iter(ids)) if alone else sorted(ids)
            values |= _values(f'{prefix}{number}', shape, which)
    statement = windows.statement(len(wholes), len(parts), alone=alone)
    return [_violation(row) for row in session.execute(statement, values)]


_Shape = tuple[str | None, Period, Period, bool]


def _shapes(additions: Iterable[Addition]) -> tuple[dict[_Shape, set[int]], dict[_Shape, set[int]]]:
    """Group additions, so that the statement has the same size for any number of resources."""
    wholes: dict[_Shape, set[int]] = defaultdict(set)
    parts: dict[_Shape, set[int]] = defaultdict(set)
    for one in additions:
        shape = (one.resource_class, one.period, one.clear, one.fresh)
        (wholes if one.resource_class is None else parts)[shape].add(one.resource_id)
    return wholes, parts


def _values(prefix: str, shape: _Shape, which: int | list[int]) -> dict[str, Any]:
    resource_class, period, clear, fresh = shape
    values: dict[str, Any] = {
        'ids': which,
        'from': period.start,
        'until': period.end,
        'clear_from': clear.start,
        'clear_until': clear.end,
        'fresh': int(fresh),
    }
    if resource_class is not None:
        values['class'] = resource_class
    return {f'{prefix}_{name}': value for name, value in values.items()}


def _violation(row: Any) -> Violation:
    if row.shut:
        why = 'is not open to bookings'
    elif row.away:
        why = 'is in maintenance'
    elif row.others:
        why = 'is booked by others'
    else:
        why = f'{row.peak} units of {row.resource_class} are booked at one instant'
    return Violation(
        resource_id=row.id,
        name=row.name,
        resource_class=row.resource_class or None,
        peak=int(row.peak or 0),
        why=why,
    )
