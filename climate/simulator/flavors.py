# SPDX-License-Identifier: Apache-2.0

"""Simulated flavors."""

from __future__ import annotations

import dataclasses
import json
import re
import sqlite3
from collections.abc import Mapping

from climate import exceptions
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.cloud.base import Flavor
from climate.simulator.store import Db
from climate.simulator.verbs import check_metadata
from climate.simulator.verbs import LONGEST
from climate.simulator.verbs import ServiceVerbs
from climate.simulator.verbs import verb

SCHEMA = """
CREATE TABLE IF NOT EXISTS flavors (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    vcpus INTEGER NOT NULL,
    memory_mb INTEGER NOT NULL,
    disk_gb INTEGER NOT NULL,
    ephemeral_gb INTEGER NOT NULL,
    swap_mb INTEGER NOT NULL,
    public INTEGER NOT NULL,
    extra_specs TEXT NOT NULL DEFAULT '{}'
);
CREATE TABLE IF NOT EXISTS flavor_access (
    flavor_id TEXT NOT NULL REFERENCES flavors (id),
    project_id TEXT NOT NULL,
    PRIMARY KEY (flavor_id, project_id)
) WITHOUT ROWID;
"""
_ID = re.compile(r'(?! )[a-zA-Z0-9. _-]{1,255}(?<! )')


def flavors(db: Db) -> tuple[Flavor, ...]:
    """Return every flavor, by id."""
    return tuple(map(_flavor, db.rows('SELECT * FROM flavors ORDER BY id')))


def _is_visible(db: Db, flavor: Flavor) -> bool:
    return db.caller.sees_all or may_use(db, flavor, db.caller.project_id)


def _list_visible(db: Db) -> tuple[Flavor, ...]:
    return tuple(flavor for flavor in flavors(db) if _is_visible(db, flavor))


def find_flavor(db: Db, flavor_id: str) -> Flavor | None:
    """Return the flavor with this id; None if it does not exist."""
    row = db.find('flavors', id=flavor_id)
    return None if row is None else _flavor(row)


def _find_visible(db: Db, flavor_id: str) -> Flavor | None:
    flavor = find_flavor(db, flavor_id)
    return flavor if flavor is not None and _is_visible(db, flavor) else None


def named(db: Db, name_or_id: str) -> Flavor | None:
    """Return the flavor with this id, or else with this name, as command lines do."""
    row = db.row(
        'SELECT * FROM flavors WHERE id = ? OR name = ? ORDER BY id = ? DESC',
        name_or_id,
        name_or_id,
        name_or_id,
    )
    return None if row is None else _flavor(row)


def may_use(db: Db, flavor: Flavor, project_id: str) -> bool:
    """Return whether a project may create servers with a flavor."""
    access = 'SELECT 1 FROM flavor_access WHERE flavor_id = ? AND project_id = ?'
    return flavor.public or db.row(access, flavor.id, project_id) is not None


def _flavor(row: sqlite3.Row) -> Flavor:
    values = dict(row)
    specs = json.loads(values.pop('extra_specs'))
    return Flavor(extra_specs=specs, **values | {'public': bool(row['public'])})


def create_flavor(db: Db, flavor: Flavor) -> None:
    """Create a flavor as described.

    :raises CloudConflict: if a flavor with this id or name exists
    :raises climate.exceptions.Permanent: if a value is not allowed
    """
    _check(flavor)
    if db.row('SELECT 1 FROM flavors WHERE id = ? OR name = ?', flavor.id, flavor.name):
        raise CloudConflict(f'flavor {flavor.id!r} or {flavor.name!r} exists already')
    values = dataclasses.asdict(flavor)
    db.insert('flavors', **values | {'extra_specs': json.dumps(values['extra_specs'])})


def _check(flavor: Flavor) -> None:
    sizes = (flavor.disk_gb, flavor.ephemeral_gb, flavor.swap_mb)
    if not _ID.fullmatch(flavor.id) or not 1 <= len(flavor.name) <= LONGEST:
        raise exceptions.Permanent(f'flavor {flavor.id[:50]!r}: its id or name is invalid')
    if flavor.vcpus < 1 or flavor.memory_mb < 1 or min(sizes) < 0:
        raise exceptions.Permanent(f'flavor {flavor.id}: a size is invalid')
    check_metadata(flavor.extra_specs)


def _delete_flavor(db: Db, flavor_id: str) -> None:
    db.delete('flavor_access', flavor_id=flavor_id)
    db.delete('flavors', id=flavor_id)


def _require(db: Db, flavor_id: str) -> Flavor:
    flavor = find_flavor(db, flavor_id)
    if flavor is None:
        raise CloudNotFound(f'the simulated cloud has no flavor {flavor_id!r}')
    return flavor


def _set_extra_specs(db: Db, flavor_id: str, specs: Mapping[str, str | None]) -> None:
    flavor = _require(db, flavor_id)
    check_metadata(specs)
    both = {**flavor.extra_specs, **specs}
    left = {key: value for key, value in both.items() if value is not None}
    db.update('flavors', flavor_id, extra_specs=json.dumps(left))


def _access(db: Db, flavor_id: str) -> frozenset[str]:
    if _require(db, flavor_id).public:
        raise CloudNotFound(f'flavor {flavor_id} is public')
    rows = db.rows('SELECT project_id FROM flavor_access WHERE flavor_id = ?', flavor_id)
    return frozenset(row['project_id'] for row in rows)


def _require_private(db: Db, flavor_id: str) -> None:
    if _require(db, flavor_id).public:
        raise CloudConflict(f'flavor {flavor_id} is public')


def _add_access(db: Db, flavor_id: str, project_id: str) -> None:
    _require_private(db, flavor_id)
    db.insert('flavor_access', or_else='IGNORE', flavor_id=flavor_id, project_id=project_id)


def _remove_access(db: Db, flavor_id: str, project_id: str) -> None:
    _require_private(db, flavor_id)
    db.delete('flavor_access', flavor_id=flavor_id, project_id=project_id)


class SimulatedFlavors(ServiceVerbs):
    """Implements :class:`climate.cloud.protocols.flavors.Flavors`."""

    list_flavors = verb('compute.list_flavors', _list_visible)
    find_flavor = verb('compute.find_flavor', _find_visible)
    create_flavor = verb('compute.create_flavor', create_flavor)
    delete_flavor = verb('compute.delete_flavor', _delete_flavor)
    set_extra_specs = verb('compute.set_extra_specs', _set_extra_specs)
    list_flavor_access = verb('compute.list_flavor_access', _access)
    add_flavor_access = verb('compute.add_flavor_access', _add_access)
    remove_flavor_access = verb('compute.remove_flavor_access', _remove_access)
