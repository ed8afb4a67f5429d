# SPDX-License-Identifier: Apache-2.0

"""Resource providers of the simulated Placement, with inventories and allocations."""

from __future__ import annotations

import dataclasses
import re
import uuid as uuids
from collections.abc import Mapping

from climate import exceptions
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.cloud.base import Provider
from climate.cloud.base import ProviderAllocation
from climate.domain.resources import Inventory
from climate.simulator.store import Db

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
CREATE TABLE IF NOT EXISTS known_traits (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS resource_classes (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS allocations (
    consumer_id TEXT NOT NULL,
    provider_uuid TEXT NOT NULL REFERENCES providers (uuid),
    resource_class TEXT NOT NULL,
    amount INTEGER NOT NULL,
    PRIMARY KEY (consumer_id, provider_uuid, resource_class)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS allocations_by_provider ON allocations (provider_uuid);
"""

LONGEST_NAME = 200
STANDARD_CLASSES = frozenset(
    {'DISK_GB', 'IPV4_ADDRESS', 'MEMORY_MB', 'PCI_DEVICE', 'PCPU', 'VCPU', 'VGPU'}
)
# The traits of the simulated hosts; os-traits has hundreds more.
STANDARD_TRAITS = frozenset(
    {'COMPUTE_NODE', 'HW_CPU_HYPERTHREADING', 'HW_CPU_X86_AVX2', 'HW_CPU_X86_SSE42'}
    | {'HW_CPU_X86_VMX', 'STORAGE_DISK_SSD'}
)
_CUSTOM = re.compile(r'CUSTOM_[A-Z0-9_]{1,248}')
_PROVIDERS = 'SELECT uuid, name, generation, parent_uuid FROM providers'


def find_provider(db: Db, name: str) -> Provider | None:
    """Return the provider with this name; None if it does not exist."""
    row = db.row(f'{_PROVIDERS} WHERE name = ?', name)
    return None if row is None else Provider(**dict(row))


def list_providers(
    db: Db, *, prefix: str = '', parent_uuid: str | None = None
) -> tuple[Provider, ...]:
    """Return the providers whose names have a prefix, by name."""
    rows = db.rows(
        f'{_PROVIDERS} WHERE substr(name, 1, length(?)) = ? AND (? IS NULL OR parent_uuid = ?)'
        ' ORDER BY name',
        prefix,
        prefix,
        parent_uuid,
        parent_uuid,
    )
    return tuple(Provider(**dict(row)) for row in rows)


def tree(db: Db, root: str) -> list[str]:
    """Return the UUIDs of a provider and of all providers below it, at any depth."""
    rows = db.rows(
        'WITH RECURSIVE tree (uuid) AS (SELECT uuid FROM providers WHERE uuid = ?'
        ' UNION ALL SELECT p.uuid FROM providers p JOIN tree t ON p.parent_uuid = t.uuid)'
        ' SELECT uuid FROM tree',
        root,
    )
    return [row['uuid'] for row in rows]


def create_provider(
    db: Db, name: str, parent_uuid: str | None, *, uuid: str | None = None
) -> Provider:
    """Create a provider without inventories, nested in another or a root.

    :param uuid: a new one if None
    :raises CloudConflict: if a provider with this name exists
    :raises climate.exceptions.Permanent: if the name is too long or empty, or there is
        no such parent
    """
    if not 1 <= len(name) <= LONGEST_NAME:
        raise exceptions.Permanent('the name of a provider must have 1 to 200 characters')
    # Placement's databases ignore case.
    if db.row('SELECT 1 FROM providers WHERE name = ? COLLATE NOCASE', name):
        raise CloudConflict(f'provider {name!r} exists already')
    if parent_uuid is not None and not _exists(db, parent_uuid):
        raise exceptions.Permanent(f'the simulated cloud has no parent provider {parent_uuid}')
    uuid = uuid or str(uuids.uuid4())
    db.insert('providers', uuid=uuid, name=name, parent_uuid=parent_uuid)
    return Provider(uuid=uuid, name=name, generation=0, parent_uuid=parent_uuid)


def delete_provider(db: Db, uuid: str) -> None:
    """Delete a provider; a no-op if it does not exist.

    :raises CloudConflict: if other providers are nested in it, or a consumer has an
        allocation from it
    """
    if db.has('providers', parent_uuid=uuid):
        raise CloudConflict(f'other providers are nested in provider {uuid}')
    if db.has('allocations', provider_uuid=uuid):
        raise CloudConflict(f'provider {uuid} has allocations')
    db.delete('inventories', provider_uuid=uuid)
    db.delete('traits', provider_uuid=uuid)
    db.delete('providers', uuid=uuid)


def set_contents(
    db: Db, uuid: str, inventories: tuple[Inventory, ...], traits: frozenset[str]
) -> None:
    """Replace the inventories and traits of a provider."""
    db.delete('inventories', provider_uuid=uuid)
    for inventory in inventories:
        _put_inventory(db, uuid, inventory)
    for trait in sorted(traits - STANDARD_TRAITS):
        db.insert('known_traits', or_else='IGNORE', name=trait)
    _put_traits(db, uuid, traits)


def _increment_generation(db: Db, uuid: str) -> None:
    db.run('UPDATE providers SET generation = generation + 1 WHERE uuid = ?', uuid)


def _exists(db: Db, uuid: str) -> bool:
    return db.has('providers', uuid=uuid)


def require(db: Db, uuid: str) -> None:
    """Check that a provider exists.

    :raises CloudNotFound: if it does not
    """
    if not _exists(db, uuid):
        raise CloudNotFound(f'the simulated cloud has no provider {uuid}')


def inventories(db: Db, uuid: str) -> tuple[Inventory, ...]:
    """Return the inventories of a provider, by resource class."""
    require(db, uuid)
    rows = db.rows(
        'SELECT resource_class, total, reserved, allocation_ratio, min_unit, max_unit, step_size'
        ' FROM inventories WHERE provider_uuid = ? ORDER BY resource_class',
        uuid,
    )
    return tuple(Inventory(**dict(row)) for row in rows)


def _put_inventory(db: Db, uuid: str, inventory: Inventory) -> None:
    values = dataclasses.asdict(inventory)
    db.insert('inventories', or_else='REPLACE', provider_uuid=uuid, **values)
    _increment_generation(db, uuid)


def set_inventory(db: Db, uuid: str, inventory: Inventory) -> None:
    """Set the inventory of a class of a provider."""
    require(db, uuid)
    if inventory.resource_class not in resource_classes(db):
        raise exceptions.Permanent(
            f'the simulated cloud has no resource class {inventory.resource_class}'
        )
    if inventory.total < 1 or not 0 <= inventory.reserved <= inventory.total:
        raise exceptions.Permanent(f'inventory not allowed: {inventory}')
    _put_inventory(db, uuid, inventory)


def remove_inventory(db: Db, uuid: str, resource_class: str) -> None:
    """Delete the inventory of a class; a no-op if it does not exist.

    :raises CloudConflict: if a part of it is allocated
    """
    if used(db, uuid, resource_class):
        raise CloudConflict(f'provider {uuid} has allocations of {resource_class}')
    if db.delete('inventories', provider_uuid=uuid, resource_class=resource_class):
        _increment_generation(db, uuid)


def used(db: Db, uuid: str, resource_class: str) -> int:
    """Return the allocated amount of a resource class of a provider."""
    row = db.row(
        'SELECT coalesce(sum(amount), 0) FROM allocations'
        ' WHERE provider_uuid = ? AND resource_class = ?',
        uuid,
        resource_class,
    )
    return int(row[0]) if row else 0


def usages(db: Db, uuid: str) -> Mapping[str, int]:
    """Return the allocated amount of each resource class of a provider."""
    return {
        item.resource_class: used(db, uuid, item.resource_class) for item in inventories(db, uuid)
    }


def has_room(db: Db, uuid: str, resource_class: str, amount: int) -> bool:
    """Return whether an amount of a resource class can be allocated from a provider."""
    row = db.row(
        'SELECT (total - reserved) * allocation_ratio AS capacity, min_unit, max_unit, step_size'
        ' FROM inventories WHERE provider_uuid = ? AND resource_class = ?',
        uuid,
        resource_class,
    )
    return (
        row is not None
        and row['min_unit'] <= amount <= row['max_unit']
        and amount % row['step_size'] == 0
        and used(db, uuid, resource_class) + amount <= int(row['capacity'])
    )


def allocate(db: Db, consumer_id: str, uuid: str, resource_class: str, amount: int) -> None:
    """Allocate an amount of a resource class of a provider."""
    db.insert(
        'allocations',
        consumer_id=consumer_id,
        provider_uuid=uuid,
        resource_class=resource_class,
        amount=amount,
    )
    _increment_generation(db, uuid)


def release(db: Db, consumer_id: str) -> None:
    """Release all allocations of a consumer."""
    db.delete('allocations', consumer_id=consumer_id)


def allocations(db: Db, uuid: str) -> tuple[ProviderAllocation, ...]:
    """Return the allocations from a provider, by consumer."""
    require(db, uuid)
    rows = db.rows('SELECT * FROM allocations WHERE provider_uuid = ? ORDER BY consumer_id', uuid)
    by_consumer: dict[str, dict[str, int]] = {}
    for row in rows:
        by_consumer.setdefault(row['consumer_id'], {})[row['resource_class']] = row['amount']
    return tuple(
        ProviderAllocation(consumer_id=consumer_id, amounts=amounts)
        for consumer_id, amounts in by_consumer.items()
    )


def check_custom(name: str) -> None:
    """Check that a name may be that of a custom trait or resource class.

    :raises climate.exceptions.Permanent: if it may not
    """
    if not _CUSTOM.fullmatch(name):
        raise exceptions.Permanent(
            f'{name[:50]!r} is not a valid name of a custom trait or resource class'
        )


def resource_classes(db: Db, prefix: str = '') -> frozenset[str]:
    """Return the names of all resource classes with this prefix."""
    custom = {row['name'] for row in db.rows('SELECT name FROM resource_classes')}
    return frozenset(name for name in custom | STANDARD_CLASSES if name.startswith(prefix))


def create_resource_class(db: Db, name: str) -> None:
    """Create a custom resource class; a no-op if it exists."""
    check_custom(name)
    db.insert('resource_classes', or_else='IGNORE', name=name)


def delete_resource_class(db: Db, name: str) -> None:
    """Delete a custom resource class; a no-op if it does not exist."""
    if name in STANDARD_CLASSES:
        raise exceptions.Permanent(f'resource class {name} is not a custom one')
    if db.has('inventories', resource_class=name):
        raise CloudConflict(f'a provider has an inventory of {name}')
    db.delete('resource_classes', name=name)


def known_traits(db: Db) -> frozenset[str]:
    """Return the names of all traits."""
    custom = (row['name'] for row in db.rows('SELECT name FROM known_traits'))
    return STANDARD_TRAITS.union(custom)


def create_trait(db: Db, name: str) -> None:
    """Create a custom trait; a no-op if it exists."""
    check_custom(name)
    db.insert('known_traits', or_else='IGNORE', name=name)


def delete_trait(db: Db, name: str) -> None:
    """Delete a custom trait; a no-op if it does not exist."""
    if name in STANDARD_TRAITS:
        raise exceptions.Permanent(f'trait {name} is not a custom one')
    if db.has('traits', name=name):
        raise CloudConflict(f'a provider has the trait {name}')
    db.delete('known_traits', name=name)


def traits(db: Db, uuid: str) -> frozenset[str]:
    """Return the traits of a provider."""
    require(db, uuid)
    rows = db.rows('SELECT name FROM traits WHERE provider_uuid = ?', uuid)
    return frozenset(row['name'] for row in rows)


def set_traits(db: Db, uuid: str, names: frozenset[str]) -> None:
    """Replace the traits of a provider."""
    if names == traits(db, uuid):
        return
    unknown = names - known_traits(db)
    if unknown:
        raise exceptions.Permanent(
            f'the simulated cloud has no traits {", ".join(sorted(unknown))}'
        )
    _put_traits(db, uuid, names)


def add_trait(db: Db, uuid: str, name: str) -> None:
    """Add a trait to a provider; a no-op if the provider has it."""
    set_traits(db, uuid, traits(db, uuid) | {name})


def _put_traits(db: Db, uuid: str, names: frozenset[str]) -> None:
    db.delete('traits', provider_uuid=uuid)
    for name in sorted(names):
        db.insert('traits', provider_uuid=uuid, name=name)
    _increment_generation(db, uuid)
