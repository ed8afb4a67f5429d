# SPDX-License-Identifier: Apache-2.0

"""Simulated flavors."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from collections.abc import Mapping

from climate import exceptions
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.cloud.base import Flavor
from climate.simulator.store import Db
from climate.simulator.verbs import check_metadata
from climate.simulator.verbs import LONGEST
from climate.simulator.verbs import ProjectVerbs

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


class SimulatedFlavors(ProjectVerbs):
    """Implements :class:`climate.cloud.protocols.flavors.Flavors`."""

    def list_flavors(self) -> tuple[Flavor, ...]:
        """Return every flavor, by id."""
        return self._runner.run(
            'compute.list_flavors', (), lambda db: tuple(filter(self._seen(db), flavors(db)))
        )

    def find_flavor(self, flavor_id: str) -> Flavor | None:
        """Return the flavor with this id; None if it does not exist."""
        return self._runner.run(
            'compute.find_flavor',
            (flavor_id,),
            lambda db: next(filter(self._seen(db), _found(db, flavor_id)), None),
        )

    def _seen(self, db: Db) -> Callable[[Flavor], bool]:
        """Return a function that returns whether the caller may see a flavor."""
        project = self._runner.project(db)
        return lambda flavor: self._runner.sees_all or may_use(db, flavor, project)

    def create_flavor(self, flavor: Flavor) -> None:
        """Create a flavor as described."""
        self._runner.run(
            'compute.create_flavor', (flavor.id,), lambda db: create_flavor(db, flavor)
        )

    def delete_flavor(self, flavor_id: str) -> None:
        """Delete a flavor; a no-op if it does not exist."""
        self._runner.run(
            'compute.delete_flavor', (flavor_id,), lambda db: _delete_flavor(db, flavor_id)
        )

    def set_extra_specs(self, flavor_id: str, specs: Mapping[str, str | None]) -> None:
        """Set extra specs; None removes a key."""
        self._runner.run(
            'compute.set_extra_specs',
            (flavor_id, dict(specs)),
            lambda db: _set_extra_specs(db, flavor_id, specs),
        )

    def list_flavor_access(self, flavor_id: str) -> frozenset[str]:
        """Return the ids of the projects that may use a private flavor."""
        return self._runner.run(
            'compute.list_flavor_access', (flavor_id,), lambda db: _access(db, flavor_id)
        )

    def add_flavor_access(self, flavor_id: str, project_id: str) -> None:
        """Grant a project access to a private flavor."""
        self._runner.run(
            'compute.add_flavor_access',
            (flavor_id, project_id),
            lambda db: _add_access(db, flavor_id, project_id),
        )

    def remove_flavor_access(self, flavor_id: str, project_id: str) -> None:
        """Revoke a project's access to a private flavor."""
        self._runner.run(
            'compute.remove_flavor_access',
            (flavor_id, project_id),
            lambda db: _remove_access(db, flavor_id, project_id),
        )


def flavors(db: Db) -> tuple[Flavor, ...]:
    """Return every flavor, by id."""
    return tuple(map(_flavor, db.rows('SELECT * FROM flavors ORDER BY id')))


def _found(db: Db, flavor_id: str) -> list[Flavor]:
    flavor = find_flavor(db, flavor_id)
    return [] if flavor is None else [flavor]


def find_flavor(db: Db, flavor_id: str) -> Flavor | None:
    """Return the flavor with this id; None if it does not exist."""
    row = db.row('SELECT * FROM flavors WHERE id = ?', flavor_id)
    return None if row is None else _flavor(row)


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
    db.run(
        'INSERT INTO flavors (id, name, vcpus, memory_mb, disk_gb, ephemeral_gb, swap_mb, public,'
        ' extra_specs) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
        flavor.id,
        flavor.name,
        flavor.vcpus,
        flavor.memory_mb,
        flavor.disk_gb,
        flavor.ephemeral_gb,
        flavor.swap_mb,
        flavor.public,
        json.dumps(dict(flavor.extra_specs)),
    )


def _check(flavor: Flavor) -> None:
    sizes = (flavor.disk_gb, flavor.ephemeral_gb, flavor.swap_mb)
    if not _ID.fullmatch(flavor.id) or not 1 <= len(flavor.name) <= LONGEST:
        raise exceptions.Permanent(f'flavor {flavor.id[:50]!r}: its id or name is invalid')
    if flavor.vcpus < 1 or flavor.memory_mb < 1 or min(sizes) < 0:
        raise exceptions.Permanent(f'flavor {flavor.id}: a size is invalid')
    check_metadata(flavor.extra_specs)


def _delete_flavor(db: Db, flavor_id: str) -> None:
    db.run('DELETE FROM flavor_access WHERE flavor_id = ?', flavor_id)
    db.run('DELETE FROM flavors WHERE id = ?', flavor_id)


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
    db.run('UPDATE flavors SET extra_specs = ? WHERE id = ?', json.dumps(left), flavor_id)


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
    db.run(
        'INSERT OR IGNORE INTO flavor_access (flavor_id, project_id) VALUES (?, ?)',
        flavor_id,
        project_id,
    )


def _remove_access(db: Db, flavor_id: str, project_id: str) -> None:
    _require_private(db, flavor_id)
    db.run(
        'DELETE FROM flavor_access WHERE flavor_id = ? AND project_id = ?', flavor_id, project_id
    )
