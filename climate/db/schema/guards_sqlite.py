# SPDX-License-Identifier: Apache-2.0

"""The rules of :mod:`climate.db.schema.guards` on SQLite: triggers for each row.

SQLite has one writer at a time, so the triggers need no locks. They check rows in the
order in which a statement writes them, as on MariaDB.
"""

from __future__ import annotations

from collections.abc import Iterator

_TOUCH = 'UPDATE resources SET generation = generation + 1 WHERE id = {resource};'

# The peak use of a class. Each allocation is a step up at its start and a step down at
# its end; at the same instant, steps down come first.
_PEAK = """
    SELECT MAX(level) FROM (
        SELECT SUM(delta) OVER (ORDER BY at, delta) AS level FROM (
            SELECT CASE sign WHEN 1 THEN a.start_date ELSE a.end_date END AS at,
                   sign * a.amount AS delta
            FROM allocations AS a, (SELECT 1 AS sign UNION ALL SELECT -1) AS signs
            WHERE {uses}
        )
    )
"""
_SUM = 'SELECT SUM(a.amount) FROM allocations AS a WHERE {uses}'
_ROOM = """
    SELECT (i.total - i.reserved) * i.allocation_ratio FROM inventories AS i
    WHERE i.resource_id = NEW.resource_id AND i.resource_class = NEW.resource_class
"""

# The sum of all overlapping allocations is never less than the peak. It usually shows
# that there is room, without computing the peak.
_CHECK = """
    {touch}
    SELECT RAISE(ABORT, '{deleted}') WHERE EXISTS (
        SELECT 1 FROM resources AS r WHERE r.id = NEW.resource_id AND r.deleted <> 0
    );
    SELECT RAISE(ABORT, '{whole}') WHERE EXISTS (
        SELECT 1 FROM allocations AS a
        WHERE {overlaps} AND (NEW.resource_class IS NULL OR a.resource_class IS NULL)
    );
    SELECT RAISE(ABORT, '{capacity}')
    WHERE NEW.resource_class IS NOT NULL AND NEW.amount > 0
      AND COALESCE(({sum}), 0) + NEW.amount > COALESCE(({room}), 0)
      AND COALESCE(({peak}), 0) + NEW.amount > COALESCE(({room}), 0);
"""

_INSERT = """
CREATE TRIGGER climate_allocations_insert BEFORE INSERT ON allocations
WHEN NEW.state <> 'released'
BEGIN
    {check}
END
"""

_SAME = """(OLD.state <> 'released' AND NEW.amount <= OLD.amount
    AND NEW.resource_id = OLD.resource_id AND NEW.resource_class IS OLD.resource_class)"""
_UPDATE = """
CREATE TRIGGER climate_allocations_update BEFORE UPDATE
OF resource_id, resource_class, amount, start_date, end_date, state ON allocations
WHEN NEW.state <> 'released' AND (NOT {same}
    OR NEW.start_date < OLD.start_date OR NEW.end_date > OLD.end_date)
BEGIN
    {check}
END
"""
# If an allocation keeps its resource and class, and its amount does not increase, only
# the time by which it grows is checked.
_SINCE = """(CASE WHEN {same} AND NEW.start_date >= OLD.start_date
    THEN MAX(NEW.start_date, OLD.end_date) ELSE NEW.start_date END)"""
_UNTIL = """(CASE WHEN {same} AND NEW.end_date <= OLD.end_date
    THEN MIN(NEW.end_date, OLD.start_date) ELSE NEW.end_date END)"""

_INVENTORY = """
CREATE TRIGGER climate_inventory_{verb} BEFORE {verb} ON inventories
WHEN {keeps} < (OLD.total - OLD.reserved) * OLD.allocation_ratio
BEGIN
    {touch}
    SELECT RAISE(ABORT, '{supply}') WHERE ({peak}) > MAX({keeps}, 0);
END
"""
_KEEPS = """(CASE WHEN NEW.resource_id = OLD.resource_id
    AND NEW.resource_class = OLD.resource_class
    THEN (NEW.total - NEW.reserved) * NEW.allocation_ratio ELSE 0 END)"""

_RESOURCE = """
CREATE TRIGGER climate_resource_delete BEFORE UPDATE OF deleted ON resources
WHEN NEW.deleted <> 0 AND OLD.deleted = 0
BEGIN
    SELECT RAISE(ABORT, '{supply}') WHERE EXISTS (
        SELECT 1 FROM allocations AS a WHERE a.resource_id = NEW.id AND a.live = 1
    );
END
"""

_NAMES = (
    ('allocations', 'climate_allocations_insert'),
    ('allocations', 'climate_allocations_update'),
    ('inventories', 'climate_inventory_update'),
    ('inventories', 'climate_inventory_delete'),
    ('resources', 'climate_resource_delete'),
)


def guards(*, whole: str, capacity: str, supply: str, deleted: str) -> Iterator[tuple[str, str]]:
    """Yield pairs of a table and a DDL statement for it, in the order to run them.

    :param whole: the message if a whole resource overlaps another allocation
    :param capacity: the message if the capacity of a class is exceeded
    :param supply: the message if live allocations need what would be removed
    :param deleted: the message if the resource is deleted
    """
    for table, name in _NAMES:
        yield table, f'DROP TRIGGER IF EXISTS {name}'
    words = {'whole': whole, 'capacity': capacity, 'deleted': deleted}
    inserted = _check('0', 'NEW.start_date', 'NEW.end_date', **words)
    yield 'allocations', _INSERT.format(check=inserted)
    since, until = _SINCE.format(same=_SAME), _UNTIL.format(same=_SAME)
    updated = _check('OLD.id', since, until, **words)
    yield 'allocations', _UPDATE.format(same=_SAME, check=updated)
    peak = _PEAK.format(
        uses='a.resource_id = OLD.resource_id AND a.live = 1'
        ' AND a.resource_class = OLD.resource_class'
    )
    touch = _TOUCH.format(resource='OLD.resource_id')
    for verb, keeps in (('update', _KEEPS), ('delete', '0')):
        yield (
            'inventories',
            _INVENTORY.format(verb=verb, keeps=keeps, touch=touch, peak=peak, supply=supply),
        )
    yield 'resources', _RESOURCE.format(supply=supply)


def _check(own: str, since: str, until: str, **words: str) -> str:
    overlaps = (
        f'a.resource_id = NEW.resource_id AND a.live = 1 AND a.id <> {own}'
        f' AND a.end_date > {since} AND a.start_date < {until}'
    )
    parts = f'{overlaps} AND a.resource_class = NEW.resource_class'
    return _CHECK.format(
        touch=_TOUCH.format(resource='NEW.resource_id'),
        overlaps=overlaps,
        sum=_SUM.format(uses=parts),
        peak=_PEAK.format(uses=parts),
        room=_ROOM,
        **words,
    )
