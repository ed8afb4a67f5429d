# SPDX-License-Identifier: Apache-2.0

"""The rules of :mod:`climate.db.schema.guards` on PostgreSQL.

An exclusion constraint keeps wholes apart. It needs no extension, because GiST can
compare a number as a range of one number. It is deferrable, so that a statement that
moves several leases is checked at its end.

Triggers check capacity, and parts next to wholes, once per statement with all its rows:
for 100 rows that takes a tenth of the time of a trigger for each row. Parts are not in
the index of the exclusion constraint: they would cost more there than in the triggers,
because finding the place of a range in a GiST index is expensive.

Each query of a function sees what was committed before the query began, so what it
reads after locking the row of a resource is up to date. The lock is ``FOR NO KEY
UPDATE``, because foreign keys hold ``FOR KEY SHARE`` by then: with a stronger lock, two
concurrent inserts would wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterator

_EXCLUSION = """
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conname = 'climate_whole_overlap'
                   AND conrelid = 'allocations'::regclass) THEN
        ALTER TABLE allocations ADD CONSTRAINT climate_whole_overlap EXCLUDE USING gist (
            int4range(resource_id, resource_id, '[]') WITH &&,
            tsrange(start_date, greatest(start_date, end_date)) WITH &&
        ) WHERE (live = 1 AND resource_class IS NULL) DEFERRABLE;
    END IF;
END $$
"""

# The peak use of a class. Each allocation is a step up at its start and a step down at
# its end; at the same instant, steps down come first.
_PEAK = """
CREATE OR REPLACE FUNCTION climate_peak(
    of_resource integer, of_class text, starts timestamp, ends timestamp
) RETURNS numeric LANGUAGE plpgsql AS $$
BEGIN
    RETURN (
        SELECT max(level) FROM (
            SELECT sum(delta) OVER (ORDER BY at, delta) AS level FROM (
                SELECT CASE sign WHEN 1 THEN start_date ELSE end_date END AS at,
                       sign * amount AS delta
                FROM allocations CROSS JOIN (VALUES (1), (-1)) AS signs (sign)
                WHERE resource_id = of_resource AND live = 1 AND resource_class = of_class
                  AND end_date > starts AND start_date < ends
            ) AS steps
        ) AS levels
    );
END $$
"""

# The sum of all overlapping allocations is never less than the peak. It usually shows
# that there is room, without computing the peak.
_CHECK = """
CREATE OR REPLACE FUNCTION climate_judge(
    resource_ids integer[], classes text[], begins timestamp[], finishes timestamp[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    doubt record;
BEGIN
    PERFORM climate_touch(resource_ids);
    IF EXISTS (SELECT 1 FROM resources WHERE id = ANY (resource_ids) AND deleted <> 0) THEN
        RAISE EXCEPTION SQLSTATE '45000' USING MESSAGE = '{deleted}';
    END IF;
    FOR doubt IN
        SELECT grown.*, uses.mixed, room.units
        FROM unnest(resource_ids, classes, begins, finishes)
            AS grown (resource_id, resource_class, starts, ends)
        CROSS JOIN LATERAL (
            SELECT sum(a.amount) FILTER (WHERE a.resource_class = grown.resource_class) AS used,
                   bool_or((a.resource_class IS NULL) <> (grown.resource_class IS NULL)) AS mixed
            FROM allocations AS a
            WHERE a.resource_id = grown.resource_id AND a.live = 1
              AND a.end_date > grown.starts AND a.start_date < grown.ends
        ) AS uses
        CROSS JOIN LATERAL (
            SELECT coalesce(max((i.total - i.reserved) * i.allocation_ratio), 0) AS units
            FROM inventories AS i
            WHERE i.resource_id = grown.resource_id AND i.resource_class = grown.resource_class
        ) AS room
        WHERE uses.mixed OR uses.used > room.units
    LOOP
        IF doubt.mixed THEN
            RAISE EXCEPTION SQLSTATE '45000' USING MESSAGE = '{whole}';
        END IF;
        IF climate_peak(doubt.resource_id, doubt.resource_class, doubt.starts, doubt.ends)
                > doubt.units THEN
            RAISE EXCEPTION SQLSTATE '45000' USING MESSAGE = '{capacity}';
        END IF;
    END LOOP;
END $$
"""

# Skips rows that this transaction has already written, as bookings have: writing them
# again takes longer than all the rest.
_TOUCH = """
CREATE OR REPLACE FUNCTION climate_touch(ids integer[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    theirs integer[];
BEGIN
    SELECT array_agg(id) INTO theirs FROM (
        SELECT id FROM resources
        WHERE id = ANY (ids) AND xmin <> pg_current_xact_id()::xid
        ORDER BY id FOR NO KEY UPDATE
    ) AS locked;
    IF theirs IS NOT NULL THEN
        UPDATE resources SET generation = generation + 1 WHERE id = ANY (theirs);
    END IF;
END $$
"""

_INSERTED = """
CREATE OR REPLACE FUNCTION climate_allocations_inserted()
RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    ids integer[]; classes text[]; starts timestamp[]; ends timestamp[];
BEGIN
    SELECT array_agg(resource_id), array_agg(resource_class),
           array_agg(start_date), array_agg(end_date)
    INTO ids, classes, starts, ends
    FROM new_rows WHERE live = 1 AND (amount > 0 OR resource_class IS NULL);
    IF ids IS NOT NULL THEN
        PERFORM climate_judge(ids, classes, starts, ends);
    END IF;
    RETURN NULL;
END $$
"""

_UPDATED = """
CREATE OR REPLACE FUNCTION climate_allocations_updated()
RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    ids integer[]; classes text[]; starts timestamp[]; ends timestamp[];
BEGIN
    SELECT array_agg(resource_id), array_agg(resource_class), array_agg(since), array_agg(until)
    INTO ids, classes, starts, ends
    FROM (
        SELECT n.resource_id, n.resource_class,
               CASE WHEN o.id IS NULL OR n.start_date < o.start_date THEN n.start_date
                    ELSE greatest(n.start_date, o.end_date) END AS since,
               CASE WHEN o.id IS NULL OR n.end_date > o.end_date THEN n.end_date
                    ELSE least(n.end_date, o.start_date) END AS until
        FROM new_rows AS n
        LEFT JOIN old_rows AS o
            ON o.id = n.id AND o.live = 1 AND o.amount >= n.amount
            AND o.resource_id = n.resource_id
            AND o.resource_class IS NOT DISTINCT FROM n.resource_class
        WHERE n.live = 1 AND (n.amount > 0 OR n.resource_class IS NULL)
          AND (o.id IS NULL OR n.start_date < o.start_date OR n.end_date > o.end_date)
    ) AS grown;
    IF ids IS NOT NULL THEN
        PERFORM climate_judge(ids, classes, starts, ends);
    END IF;
    RETURN NULL;
END $$
"""

_INVENTORY = """
CREATE OR REPLACE FUNCTION climate_inventory_shrinks()
RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    has double precision := (OLD.total - OLD.reserved) * OLD.allocation_ratio;
    keeps double precision := 0;
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.resource_id = OLD.resource_id
            AND NEW.resource_class = OLD.resource_class THEN
        keeps := (NEW.total - NEW.reserved) * NEW.allocation_ratio;
    END IF;
    IF keeps < has THEN
        PERFORM climate_touch(ARRAY[OLD.resource_id]);
        IF climate_peak(OLD.resource_id, OLD.resource_class, '-infinity', 'infinity')
                > greatest(keeps, 0) THEN
            RAISE EXCEPTION SQLSTATE '45000' USING MESSAGE = '{supply}';
        END IF;
    END IF;
    RETURN NULL;
END $$
"""

_RESOURCE = """
CREATE OR REPLACE FUNCTION climate_resource_deleted()
RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM allocations WHERE resource_id = NEW.id AND live = 1) THEN
        RAISE EXCEPTION SQLSTATE '45000' USING MESSAGE = '{supply}';
    END IF;
    RETURN NULL;
END $$
"""

_TRIGGERS = {
    'climate_allocations_inserted': (
        'allocations',
        'AFTER INSERT ON allocations REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT '
        'EXECUTE FUNCTION climate_allocations_inserted()',
    ),
    # PostgreSQL does not pass rows to a trigger that is limited to some columns.
    'climate_allocations_updated': (
        'allocations',
        'AFTER UPDATE ON allocations REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows '
        'FOR EACH STATEMENT EXECUTE FUNCTION climate_allocations_updated()',
    ),
    'climate_inventory_shrinks': (
        'inventories',
        'AFTER UPDATE OR DELETE ON inventories FOR EACH ROW '
        'EXECUTE FUNCTION climate_inventory_shrinks()',
    ),
    'climate_resource_deleted': (
        'resources',
        'AFTER UPDATE OF deleted ON resources FOR EACH ROW '
        'WHEN (OLD.deleted = 0 AND NEW.deleted <> 0) '
        'EXECUTE FUNCTION climate_resource_deleted()',
    ),
}


def guards(*, whole: str, capacity: str, supply: str, deleted: str) -> Iterator[tuple[str, str]]:
    """Yield pairs of a table and a DDL statement for it, in the order to run them.

    :param whole: the message if a whole resource overlaps another allocation
    :param capacity: the message if the capacity of a class is exceeded
    :param supply: the message if live allocations need what would be removed
    :param deleted: the message if the resource is deleted
    """
    yield 'allocations', _EXCLUSION
    yield 'allocations', _INSERTED
    yield 'allocations', _UPDATED
    yield 'allocations', _CHECK.format(whole=whole, capacity=capacity, deleted=deleted)
    # Functions for two tables are created with the first of them.
    yield 'resources', _TOUCH
    yield 'resources', _PEAK
    yield 'inventories', _INVENTORY.format(supply=supply)
    yield 'resources', _RESOURCE.format(supply=supply)
    for name, (table, rest) in _TRIGGERS.items():
        yield table, f'CREATE OR REPLACE TRIGGER {name} {rest}'
