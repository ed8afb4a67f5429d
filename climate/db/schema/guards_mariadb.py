# SPDX-License-Identifier: Apache-2.0

"""The rules of :mod:`climate.db.schema.guards` on MariaDB: triggers for each row.

``UNIQUE (resource, period WITHOUT OVERLAPS)`` is unsuitable: a ``PERIOD`` requires
start < end of all rows, even of those released before they began; it does not cover
parts next to wholes; and adding it copies the table. The trigger that checks parts
checks wholes at no extra cost.

The triggers lock what they read. A plain read would see a snapshot: for all rows of a
statement the one of its first row, or, at REPEATABLE READ on a console, the one of a
much earlier statement. A statement that increases use waits for the row of the resource
first, so it waits for these locks only if others release something at that moment.

The rows of a statement are checked one by one, in the order in which it writes them. A
statement that moves several leases at once, each into the place of the next, may be
refused although its result would be correct; the service never does that.
"""

from __future__ import annotations

from collections.abc import Iterator

# What operators must do if triggers cannot be created, by error number.
_HINTS = {
    1142: "the user of the database needs the privilege TRIGGER on all of Climate's tables",
    1419: (
        'with a binary log, the server needs log_bin_trust_function_creators = 1 '
        'while the tables are upgraded, or the user of the database the privilege SUPER'
    ),
}

_TOUCH = 'UPDATE resources SET generation = generation + 1 WHERE id = {resource};'

# The peak use of a class. Each allocation is a step up at its start and a step down at
# its end; at the same instant, steps down come first.
_PEAK = """
    SELECT MAX(level) INTO used FROM (
        SELECT SUM(delta) OVER (ORDER BY at, delta) AS level FROM (
            SELECT CASE sign WHEN 1 THEN a.start_date ELSE a.end_date END AS at,
                   sign * a.amount AS delta
            FROM allocations AS a JOIN (SELECT 1 AS sign UNION ALL SELECT -1) AS signs
            WHERE {uses} LOCK IN SHARE MODE
        ) AS steps
    ) AS levels;
"""

_CHECK = """
    DECLARE used DECIMAL(65);
    DECLARE room DOUBLE;
    DECLARE mixed INT;
    UPDATE resources SET generation = generation + 1
    WHERE id = NEW.resource_id AND deleted = 0;
    IF ROW_COUNT() = 0 THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = '{deleted}';
    END IF;
    SELECT SUM(IF(a.resource_class = NEW.resource_class, a.amount, 0)),
           MAX(NEW.resource_class IS NULL OR a.resource_class IS NULL)
    INTO used, mixed
    FROM allocations AS a WHERE {overlaps} LOCK IN SHARE MODE;
    IF mixed THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = '{whole}';
    END IF;
    IF NEW.resource_class IS NOT NULL AND NEW.amount > 0 THEN
        SELECT MAX((i.total - i.reserved) * i.allocation_ratio) INTO room
        FROM inventories AS i
        WHERE i.resource_id = NEW.resource_id AND i.resource_class = NEW.resource_class
        LOCK IN SHARE MODE;
        IF COALESCE(used, 0) + NEW.amount > COALESCE(room, 0) THEN
            {peak}
            IF COALESCE(used, 0) + NEW.amount > COALESCE(room, 0) THEN
                SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = '{capacity}';
            END IF;
        END IF;
    END IF;
"""

_INSERT = """
CREATE OR REPLACE TRIGGER climate_allocations_insert BEFORE INSERT ON allocations
FOR EACH ROW IF NEW.state <> 'released' THEN
BEGIN
    {check}
END;
END IF
"""

# If an allocation keeps its resource and class, and its amount does not increase, only
# the time by which it grows is checked.
_UPDATE = """
CREATE OR REPLACE TRIGGER climate_allocations_update BEFORE UPDATE ON allocations
FOR EACH ROW IF NEW.state <> 'released' THEN
BEGIN
    DECLARE since DATETIME(6) DEFAULT NEW.start_date;
    DECLARE until DATETIME(6) DEFAULT NEW.end_date;
    DECLARE grows INT DEFAULT 1;
    IF OLD.state <> 'released' AND NEW.amount <= OLD.amount
            AND NEW.resource_id = OLD.resource_id
            AND NEW.resource_class <=> OLD.resource_class THEN
        SET grows = NEW.start_date < OLD.start_date OR NEW.end_date > OLD.end_date;
        IF NEW.start_date >= OLD.start_date THEN
            SET since = GREATEST(NEW.start_date, OLD.end_date);
        END IF;
        IF NEW.end_date <= OLD.end_date THEN
            SET until = LEAST(NEW.end_date, OLD.start_date);
        END IF;
    END IF;
    IF grows THEN
    BEGIN
        {check}
    END;
    END IF;
END;
END IF
"""

_INVENTORY = """
CREATE OR REPLACE TRIGGER climate_inventory_{verb} BEFORE {verb} ON inventories
FOR EACH ROW BEGIN
    DECLARE used DECIMAL(65);
    DECLARE keeps DOUBLE DEFAULT {keeps};
    IF keeps < (OLD.total - OLD.reserved) * OLD.allocation_ratio THEN
        {touch}
        {peak}
        IF used > GREATEST(keeps, 0) THEN
            SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = '{supply}';
        END IF;
    END IF;
END
"""
_KEEPS = (
    'IF(NEW.resource_id = OLD.resource_id AND NEW.resource_class = OLD.resource_class,'
    ' (NEW.total - NEW.reserved) * NEW.allocation_ratio, 0)'
)

_RESOURCE = """
CREATE OR REPLACE TRIGGER climate_resource_delete BEFORE UPDATE ON resources
FOR EACH ROW IF NEW.deleted <> 0 AND OLD.deleted = 0 THEN
    IF EXISTS (SELECT 1 FROM allocations AS a
               WHERE a.resource_id = NEW.id AND a.live = 1 LOCK IN SHARE MODE) THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = '{supply}';
    END IF;
END IF
"""


def guards(*, whole: str, capacity: str, supply: str, deleted: str) -> Iterator[tuple[str, str]]:
    """Yield pairs of a table and a DDL statement for it, in the order to run them.

    :param whole: the message if a whole resource overlaps another allocation
    :param capacity: the message if the capacity of a class is exceeded
    :param supply: the message if live allocations need what would be removed
    :param deleted: the message if the resource is deleted
    """
    words = {'whole': whole, 'capacity': capacity, 'deleted': deleted}
    inserted = _check('', 'NEW.start_date', 'NEW.end_date', **words)
    yield 'allocations', _INSERT.format(check=inserted)
    yield (
        'allocations',
        _UPDATE.format(check=_check(' AND a.id <> OLD.id', 'since', 'until', **words)),
    )
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


def hint(error: BaseException | None) -> str | None:
    """Return what operators must do if *error* prevents triggers, otherwise None."""
    number = error.args[0] if error is not None and error.args else None
    return _HINTS.get(number) if isinstance(number, int) else None


def _check(own: str, since: str, until: str, **words: str) -> str:
    overlaps = (
        f'a.resource_id = NEW.resource_id AND a.live = 1{own}'
        f' AND a.end_date > {since} AND a.start_date < {until}'
    )
    peak = _PEAK.format(uses=f'{overlaps} AND a.resource_class = NEW.resource_class')
    touch = _TOUCH.format(resource='NEW.resource_id')
    return _CHECK.format(touch=touch, overlaps=overlaps, peak=peak, **words)
