# SPDX-License-Identifier: Apache-2.0

"""Simulated aggregates."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Mapping

from climate import exceptions
from climate.cloud.base import Aggregate
from climate.cloud.base import AVAILABILITY_ZONE_KEY
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.simulator.hypervisors import DEFAULT_ZONE
from climate.simulator.store import Db
from climate.simulator.verbs import check_metadata
from climate.simulator.verbs import LONGEST
from climate.simulator.verbs import ServiceVerbs
from climate.simulator.verbs import verb

SCHEMA = """
CREATE TABLE IF NOT EXISTS aggregates (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    availability_zone TEXT
);
CREATE TABLE IF NOT EXISTS aggregate_hosts (
    aggregate_id INTEGER NOT NULL REFERENCES aggregates (id),
    host TEXT NOT NULL,
    PRIMARY KEY (aggregate_id, host)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS aggregates_by_host ON aggregate_hosts (host);
CREATE TABLE IF NOT EXISTS aggregate_metadata (
    aggregate_id INTEGER NOT NULL REFERENCES aggregates (id),
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (aggregate_id, key)
) WITHOUT ROWID;
"""


def _aggregate(db: Db, row: sqlite3.Row) -> Aggregate:
    members = db.rows(
        'SELECT host FROM aggregate_hosts WHERE aggregate_id = ? ORDER BY host', row['id']
    )
    metadata = db.rows(
        'SELECT key, value FROM aggregate_metadata WHERE aggregate_id = ? ORDER BY key', row['id']
    )
    return Aggregate(
        id=row['id'],
        uuid=_aggregate_uuid(row['id']),
        name=row['name'],
        availability_zone=row['availability_zone'],
        hosts=tuple(member['host'] for member in members),
        metadata={pair['key']: pair['value'] for pair in metadata},
    )


def aggregates(db: Db) -> tuple[Aggregate, ...]:
    """Return every aggregate, by id."""
    return tuple(_aggregate(db, row) for row in db.rows('SELECT * FROM aggregates ORDER BY id'))


def find_aggregate(db: Db, name: str) -> Aggregate | None:
    """Return the aggregate with this name; None if it does not exist."""
    row = db.find('aggregates', name=name)
    return None if row is None else _aggregate(db, row)


def create_aggregate(db: Db, name: str, availability_zone: str | None) -> Aggregate:
    """Create an empty aggregate.

    :raises CloudConflict: if an aggregate with this name exists
    """
    _check_name(name)
    _check_zone(availability_zone)
    # Nova's databases ignore case.
    if db.row('SELECT id FROM aggregates WHERE name = ? COLLATE NOCASE', name):
        raise CloudConflict(f'aggregate {name!r} exists already')
    number = db.insert('aggregates', name=name, availability_zone=availability_zone)
    return Aggregate(
        id=number,
        uuid=_aggregate_uuid(number),
        name=name,
        availability_zone=availability_zone,
        hosts=(),
        metadata={},
    )


def _aggregate_uuid(number: int) -> str:
    """Return the UUID of an aggregate in Placement."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f'aggregate {number}'))


def _check_name(name: str) -> None:
    """Check a name by the rules of Nova and of its databases."""
    printable = name.isprintable() and all(ord(letter) < 0x10000 for letter in name)
    if not printable or name != name.strip() or not 1 <= len(name) <= LONGEST:
        raise exceptions.Permanent(f'{name[:50]!r} is not a valid name of an aggregate')


def _check_zone(zone: str | None) -> None:
    if zone is not None:
        _check_name(zone)
        if ':' in zone:
            raise exceptions.Permanent(f'{zone!r} is not a valid name of an availability zone')


def _zone_of_aggregate(db: Db, aggregate_id: int) -> str | None:
    """Return the zone that an aggregate defines; None without one.

    :raises CloudNotFound: if there is no such aggregate
    """
    row = db.row('SELECT availability_zone FROM aggregates WHERE id = ?', aggregate_id)
    if row is None:
        raise CloudNotFound(f'the simulated cloud has no aggregate {aggregate_id}')
    zone: str | None = row['availability_zone']
    return zone


def _set_aggregate_metadata(db: Db, aggregate_id: int, metadata: Mapping[str, str | None]) -> None:
    if AVAILABILITY_ZONE_KEY in metadata:
        raise exceptions.Permanent('the zone of an aggregate is set when it is created')
    _zone_of_aggregate(db, aggregate_id)
    check_metadata(metadata)
    delete = 'DELETE FROM aggregate_metadata WHERE aggregate_id = ? AND key = ?'
    for key, value in metadata.items():
        db.run(delete, aggregate_id, key)
        if value is not None:
            db.insert('aggregate_metadata', aggregate_id=aggregate_id, key=key, value=value)


def _other_zones(db: Db, aggregate_id: int, host: str) -> set[str]:
    """Return the zones that other aggregates define for a host."""
    rows = db.rows(
        'SELECT a.availability_zone FROM aggregate_hosts m JOIN aggregates a'
        ' ON a.id = m.aggregate_id WHERE m.host = ? AND a.id != ?'
        ' AND a.availability_zone IS NOT NULL',
        host,
        aggregate_id,
    )
    return {row['availability_zone'] for row in rows}


def _check_zone_change(db: Db, host: str, old: str, new: str) -> None:
    """Check that no server changes its zone, which Nova forbids since 2024.1.

    :raises CloudConflict: if the zones differ and the host has servers
    """
    if old != new and db.has('servers', host=host):
        raise CloudConflict(f'host {host} has servers, which would change from zone {old} to {new}')


def _is_member(db: Db, aggregate_id: int, host: str) -> bool:
    sql = 'SELECT 1 FROM aggregate_hosts WHERE aggregate_id = ? AND host = ?'
    return db.row(sql, aggregate_id, host) is not None


def add_host(db: Db, aggregate_id: int, host: str) -> None:
    """Add a service host to an aggregate; a no-op if it is already a member.

    :raises CloudNotFound: if there is no such aggregate or host
    :raises CloudConflict: if the host is in another zone, or its servers would change theirs
    """
    zone = _zone_of_aggregate(db, aggregate_id)
    if not db.has('hypervisors', service_host=host):
        raise CloudNotFound(f'the simulated cloud has no host {host!r}')
    if _is_member(db, aggregate_id, host):
        return
    if zone is not None:
        others = _other_zones(db, aggregate_id, host)
        if others - {zone}:
            raise CloudConflict(f'host {host} is in availability zone {", ".join(sorted(others))}')
        _check_zone_change(db, host, zone if others else DEFAULT_ZONE, zone)
    db.insert('aggregate_hosts', aggregate_id=aggregate_id, host=host)


def remove_host(db: Db, aggregate_id: int, host: str) -> None:
    zone = _zone_of_aggregate(db, aggregate_id)
    if not _is_member(db, aggregate_id, host):
        return
    if zone is not None and not _other_zones(db, aggregate_id, host):
        _check_zone_change(db, host, zone, DEFAULT_ZONE)
    db.delete('aggregate_hosts', aggregate_id=aggregate_id, host=host)


def _delete_aggregate(db: Db, aggregate_id: int) -> None:
    if db.has('aggregate_hosts', aggregate_id=aggregate_id):
        raise CloudConflict(f'aggregate {aggregate_id} still has hosts')
    db.delete('aggregate_metadata', aggregate_id=aggregate_id)
    db.delete('aggregates', id=aggregate_id)


class SimulatedAggregates(ServiceVerbs):
    """Implements :class:`climate.cloud.protocols.aggregates.Aggregates`."""

    list_aggregates = verb('compute.list_aggregates', aggregates)
    find_aggregate = verb('compute.find_aggregate', find_aggregate)
    create_aggregate = verb('compute.create_aggregate', create_aggregate)
    set_aggregate_metadata = verb('compute.set_aggregate_metadata', _set_aggregate_metadata)
    add_host = verb('compute.add_host', add_host)
    remove_host = verb('compute.remove_host', remove_host)
    delete_aggregate = verb('compute.delete_aggregate', _delete_aggregate)
