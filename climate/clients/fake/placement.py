# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Placement, as the twin has it."""

from __future__ import annotations

import uuid as uuids

from climate import exceptions
from climate.clients.base import CloudConflict
from climate.clients.base import CloudNotFound
from climate.clients.base import Provider
from climate.clients.fake.gate import Gate
from climate.clients.fake.store import Db
from climate.domain.resources import Inventory

SCHEMA = """
CREATE TABLE IF NOT EXISTS providers (
    uuid TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    generation INTEGER NOT NULL DEFAULT 0,
    parent_uuid TEXT REFERENCES providers (uuid)
);
CREATE INDEX IF NOT EXISTS providers_by_parent ON providers (parent_uuid);
CREATE TABLE IF NOT EXISTS inventories (
    provider_uuid TEXT NOT NULL REFERENCES providers (uuid),
    resource_class TEXT NOT NULL,
    total INTEGER NOT NULL,
    reserved INTEGER NOT NULL,
    allocation_ratio REAL NOT NULL,
    min_unit INTEGER NOT NULL,
    max_unit INTEGER NOT NULL,
    step_size INTEGER NOT NULL,
    PRIMARY KEY (provider_uuid, resource_class)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS traits (
    provider_uuid TEXT NOT NULL REFERENCES providers (uuid),
    name TEXT NOT NULL,
    PRIMARY KEY (provider_uuid, name)
) WITHOUT ROWID;
"""

_PROVIDERS = 'SELECT uuid, name, generation, parent_uuid FROM providers'


class FakePlacement:
    """Fulfils :class:`climate.clients.base.Placement`."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def find_provider(self, name: str) -> Provider | None:
        """Return the provider of this name; None if there is none."""
        return self._gate.run(
            'placement.find_provider', (name,), lambda db: find_provider(db, name)
        )

    def create_provider(self, name: str, parent_uuid: str | None) -> Provider:
        """Make a provider without inventories."""
        return self._gate.run(
            'placement.create_provider',
            (name, parent_uuid),
            lambda db: create_provider(db, name, parent_uuid),
        )

    def delete_provider(self, uuid: str) -> None:
        """Remove a provider."""
        self._gate.run('placement.delete_provider', (uuid,), lambda db: delete_provider(db, uuid))

    def inventories(self, uuid: str) -> tuple[Inventory, ...]:
        """Return the inventories of a provider, by resource class."""
        return self._gate.run('placement.inventories', (uuid,), lambda db: _inventories(db, uuid))

    def traits(self, uuid: str) -> frozenset[str]:
        """Return the traits of a provider."""
        return self._gate.run('placement.traits', (uuid,), lambda db: _traits(db, uuid))


def find_provider(db: Db, name: str) -> Provider | None:
    """Return the provider of this name; None if there is none."""
    row = db.row(f'{_PROVIDERS} WHERE name = ?', name)
    return None if row is None else Provider(**dict(row))


def create_provider(
    db: Db, name: str, parent_uuid: str | None, *, uuid: str | None = None
) -> Provider:
    """Make a provider, of this *uuid* if one is given.

    :raises CloudConflict: if there is one of this name
    :raises climate.exceptions.Permanent: if there is no such parent
    """
    if find_provider(db, name):
        raise CloudConflict(f'there is a provider {name!r} already')
    if parent_uuid is not None and not _exists(db, parent_uuid):
        raise exceptions.Permanent(f'the twin has no provider {parent_uuid} to nest another in')
    uuid = uuid or str(uuids.uuid4())
    db.run(
        'INSERT INTO providers (uuid, name, generation, parent_uuid) VALUES (?, ?, 0, ?)',
        uuid,
        name,
        parent_uuid,
    )
    return Provider(uuid=uuid, name=name, generation=0, parent_uuid=parent_uuid)


def delete_provider(db: Db, uuid: str) -> None:
    """Remove a provider; fine if it is gone.

    :raises CloudConflict: if others are nested in it
    """
    if db.row('SELECT 1 FROM providers WHERE parent_uuid = ?', uuid):
        raise CloudConflict(f'other providers are nested in provider {uuid}')
    db.run('DELETE FROM inventories WHERE provider_uuid = ?', uuid)
    db.run('DELETE FROM traits WHERE provider_uuid = ?', uuid)
    db.run('DELETE FROM providers WHERE uuid = ?', uuid)


def set_contents(
    db: Db, uuid: str, inventories: tuple[Inventory, ...], traits: frozenset[str]
) -> None:
    """Give a provider these inventories and traits instead of those it has."""
    db.run('DELETE FROM inventories WHERE provider_uuid = ?', uuid)
    db.run('DELETE FROM traits WHERE provider_uuid = ?', uuid)
    for inventory in inventories:
        db.run(
            'INSERT INTO inventories (provider_uuid, resource_class, total, reserved,'
            ' allocation_ratio, min_unit, max_unit, step_size) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
            uuid,
            inventory.resource_class,
            inventory.total,
            inventory.reserved,
            inventory.allocation_ratio,
            inventory.min_unit,
            inventory.max_unit,
            inventory.step_size,
        )
    for trait in sorted(traits):
        db.run('INSERT INTO traits (provider_uuid, name) VALUES (?, ?)', uuid, trait)
    db.run('UPDATE providers SET generation = generation + 1 WHERE uuid = ?', uuid)


def _exists(db: Db, uuid: str) -> bool:
    return db.row('SELECT 1 FROM providers WHERE uuid = ?', uuid) is not None


def _require(db: Db, uuid: str) -> None:
    if not _exists(db, uuid):
        raise CloudNotFound(f'the twin has no provider {uuid}')


def _inventories(db: Db, uuid: str) -> tuple[Inventory, ...]:
    _require(db, uuid)
    rows = db.rows(
        'SELECT resource_class, total, reserved, allocation_ratio, min_unit, max_unit, step_size'
        ' FROM inventories WHERE provider_uuid = ? ORDER BY resource_class',
        uuid,
    )
    return tuple(Inventory(**dict(row)) for row in rows)


def _traits(db: Db, uuid: str) -> frozenset[str]:
    _require(db, uuid)
    rows = db.rows('SELECT name FROM traits WHERE provider_uuid = ?', uuid)
    return frozenset(row['name'] for row in rows)
