# SPDX-License-Identifier: Apache-2.0

"""Simulated Placement."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate
from typing import ParamSpec
from typing import TypeVar

from climate.cloud.base import Provider
from climate.simulator import providers
from climate.simulator import server_rows
from climate.simulator import verbs
from climate.simulator.store import Db
from climate.simulator.verbs import verb

SCHEMA = providers.SCHEMA
P = ParamSpec('P')
T = TypeVar('T')


def _settled(work: Callable[Concatenate[Db, P], T]) -> Callable[Concatenate[Db, P], T]:
    """Complete the server operations that are due before *work*."""

    @functools.wraps(work)
    def settled(db: Db, /, *args: P.args, **kwargs: P.kwargs) -> T:
        server_rows.settle(db)
        return work(db, *args, **kwargs)

    return settled


def _create_provider(db: Db, name: str, parent_uuid: str | None) -> Provider:
    return providers.create_provider(db, name, parent_uuid)


class SimulatedPlacement(verbs.ServiceVerbs):
    """Implements :class:`climate.cloud.base.Placement`."""

    find_provider = verb('placement.find_provider', providers.find_provider)
    list_providers = verb('placement.list_providers', providers.list_providers)
    create_provider = verb('placement.create_provider', _create_provider)
    delete_provider = verb('placement.delete_provider', _settled(providers.delete_provider))
    inventories = verb('placement.inventories', providers.inventories)
    set_inventory = verb(
        'placement.set_inventory',
        providers.set_inventory,
        'uuid',
        'inventory.resource_class',
        'inventory.total',
    )
    remove_inventory = verb('placement.remove_inventory', _settled(providers.remove_inventory))
    usages = verb('placement.usages', _settled(providers.usages))
    allocations = verb('placement.allocations', _settled(providers.allocations))
    create_trait = verb('placement.create_trait', providers.create_trait)
    delete_trait = verb('placement.delete_trait', providers.delete_trait)
    traits = verb('placement.traits', providers.traits)
    set_traits = verb('placement.set_traits', providers.set_traits)
    add_trait = verb('placement.add_trait', providers.add_trait)
    list_resource_classes = verb('placement.list_resource_classes', providers.resource_classes)
    create_resource_class = verb('placement.create_resource_class', providers.create_resource_class)
    delete_resource_class = verb('placement.delete_resource_class', providers.delete_resource_class)
