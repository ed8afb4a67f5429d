# SPDX-License-Identifier: Apache-2.0

"""Placement, over a keystoneauth adapter.

Errors and retries are those of :mod:`climate.cloud.nova`. A change contains the
generation of the provider. If another client has changed the provider meanwhile,
Placement returns 409, and the change is retried a few times with the new generation.
"""

from __future__ import annotations

import contextlib
import dataclasses
import random
import re
import time
import urllib.parse
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

from keystoneauth1 import adapter as ksa_adapter

from climate import exceptions
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.cloud.base import Provider
from climate.cloud.base import ProviderAllocation
from climate.cloud.errors import Errors
from climate.domain.resources import Inventory

# The first one that accepts completely reserved inventories.
MICROVERSION = '1.26'
# In an experiment, eight threads that changed one provider at once needed eight.
ATTEMPTS = 20
# The text of a 500 that Placement returns if two changes conflict in its database.
_DATABASE_CONFLICT = re.compile('deadlock|concurrently updated', re.IGNORECASE)
# The longest pause before a retry, in seconds. Pauses are random, so that the same
# clients do not conflict again.
PAUSE = 0.05


class PlacementClient:
    """Implements :class:`climate.cloud.base.Placement`.

    :param adapter: for the service type ``placement``; raises for errors
    :param errors: for Placement
    """

    def __init__(self, adapter: ksa_adapter.Adapter, errors: Errors) -> None:
        self._adapter = adapter
        self._errors = errors

    def find_provider(self, name: str) -> Provider | None:
        """Return the provider of exactly this name; None if it does not exist."""
        with self._errors.translated('find_provider'):
            answer = self._get('/resource_providers', params={'name': name})
            providers = [_provider(item) for item in answer['resource_providers']]
        # A case-insensitive database also returns others.
        return next((provider for provider in providers if provider.name == name), None)

    def list_providers(
        self, *, prefix: str = '', parent_uuid: str | None = None
    ) -> tuple[Provider, ...]:
        """Return the providers whose names have a prefix, by name."""
        query = {} if parent_uuid is None else {'in_tree': parent_uuid}
        with self._errors.translated('list_providers'):
            answer = self._get('/resource_providers', params=query)
            providers = [_provider(item) for item in answer['resource_providers']]
        # Placement can search neither for parts of names nor for direct children.
        wanted = (
            provider
            for provider in providers
            if provider.name.startswith(prefix) and parent_uuid in (None, provider.parent_uuid)
        )
        return tuple(sorted(wanted, key=lambda provider: provider.name))

    def create_provider(self, name: str, parent_uuid: str | None) -> Provider:
        """Create a provider without inventories, nested in another or a root."""
        body = {'name': name}
        if parent_uuid is not None:
            body['parent_provider_uuid'] = parent_uuid
        with self._errors.translated('create_provider'):
            # After a time-out the outcome is unknown, so this is not sent twice.
            answer = self._adapter.post('/resource_providers', json=body, connect_retries=0)
            return _provider(answer.json())

    def delete_provider(self, uuid: str) -> None:
        """Delete a provider; a no-op if it does not exist."""
        with contextlib.suppress(CloudNotFound), self._errors.translated('delete_provider'):
            self._adapter.delete(f'/resource_providers/{uuid}')

    def inventories(self, uuid: str) -> tuple[Inventory, ...]:
        """Return the inventories of a provider, by resource class."""
        with self._errors.translated('inventories'):
            amounts = self._get(f'/resource_providers/{uuid}/inventories')['inventories']
            return tuple(_inventory(name, amounts[name]) for name in sorted(amounts))

    def set_inventory(self, uuid: str, inventory: Inventory) -> None:
        """Set the inventory of a class of a provider."""
        self._persist(lambda: self._set_inventory(uuid, inventory))

    def _set_inventory(self, uuid: str, inventory: Inventory) -> None:
        path = f'/resource_providers/{uuid}/inventories'
        body = dataclasses.asdict(inventory)
        name = body.pop('resource_class')
        with self._errors.translated('set_inventory'):
            answer = self._get(path)
            body['resource_provider_generation'] = answer['resource_provider_generation']
            if name in answer['inventories']:
                self._adapter.put(f'{path}/{name}', json=body)
            else:
                self._adapter.post(path, json=body | {'resource_class': name}, connect_retries=0)

    def remove_inventory(self, uuid: str, resource_class: str) -> None:
        """Delete the inventory of a class; a no-op if it or the provider does not exist."""
        path = f'/resource_providers/{uuid}/inventories/{resource_class}'
        with contextlib.suppress(CloudNotFound):
            self._persist(lambda: self._delete('remove_inventory', path))

    def usages(self, uuid: str) -> Mapping[str, int]:
        """Return the allocated amount of each resource class of a provider."""
        with self._errors.translated('usages'):
            amounts = self._get(f'/resource_providers/{uuid}/usages')['usages']
            return {name: int(amounts[name]) for name in sorted(amounts)}

    def allocations(self, uuid: str) -> tuple[ProviderAllocation, ...]:
        """Return the allocations from a provider, by consumer."""
        with self._errors.translated('allocations'):
            consumers = self._get(f'/resource_providers/{uuid}/allocations')['allocations']
            return tuple(
                ProviderAllocation(
                    consumer_id=consumer, amounts=dict(consumers[consumer]['resources'])
                )
                for consumer in sorted(consumers)
            )

    def create_trait(self, name: str) -> None:
        """Create a custom trait; a no-op if it exists."""
        with self._errors.translated('create_trait'):
            self._adapter.put(f'/traits/{_quoted(name)}')

    def delete_trait(self, name: str) -> None:
        """Delete a custom trait; a no-op if it does not exist."""
        with contextlib.suppress(CloudNotFound):
            self._delete('delete_trait', f'/traits/{_quoted(name)}')

    def traits(self, uuid: str) -> frozenset[str]:
        """Return the traits of a provider."""
        with self._errors.translated('traits'):
            return frozenset(self._get(f'/resource_providers/{uuid}/traits')['traits'])

    def set_traits(self, uuid: str, names: frozenset[str]) -> None:
        """Replace the traits of a provider."""
        self._change_traits('set_traits', uuid, lambda _present: names)

    def add_trait(self, uuid: str, name: str) -> None:
        """Add a trait to a provider; a no-op if the provider has it."""
        self._change_traits('add_trait', uuid, lambda present: present | {name})

    def _change_traits(
        self, verb: str, uuid: str, change: Callable[[frozenset[str]], frozenset[str]]
    ) -> None:
        path = f'/resource_providers/{uuid}/traits'

        def attempt() -> None:
            with self._errors.translated(verb):
                answer = self._get(path)
                present = frozenset(answer['traits'])
                wanted = change(present)
                if wanted != present:
                    generation = answer['resource_provider_generation']
                    body = {'resource_provider_generation': generation, 'traits': sorted(wanted)}
                    self._adapter.put(path, json=body)

        self._persist(attempt)

    def list_resource_classes(self, prefix: str = '') -> frozenset[str]:
        """Return the names of all resource classes with this prefix."""
        with self._errors.translated('list_resource_classes'):
            classes = self._get('/resource_classes')['resource_classes']
            return frozenset(item['name'] for item in classes if item['name'].startswith(prefix))

    def create_resource_class(self, name: str) -> None:
        """Create a custom resource class; a no-op if it exists."""
        with self._errors.translated('create_resource_class'):
            self._adapter.put(f'/resource_classes/{_quoted(name)}')

    def delete_resource_class(self, name: str) -> None:
        """Delete a custom resource class; a no-op if it does not exist."""
        with contextlib.suppress(CloudNotFound):
            self._delete('delete_resource_class', f'/resource_classes/{_quoted(name)}')

    def _delete(self, verb: str, path: str) -> None:
        with self._errors.translated(verb):
            self._adapter.delete(path)

    @staticmethod
    def _persist(attempt: Callable[[], None]) -> None:
        """Make an attempt, and retry it a few times after conflicts with other clients.

        Placement returns the same error if a provider has changed meanwhile and if
        something is in use, so the latter is reported with a short delay. After a
        conflict in its database, it may also return 500.
        """
        for number in range(1, ATTEMPTS + 1):
            try:
                return attempt()
            except (CloudConflict, exceptions.Transient) as error:
                conflict = isinstance(error, CloudConflict)
                retriable = conflict or _DATABASE_CONFLICT.search(error.message)
                if not retriable or number == ATTEMPTS:
                    raise
                time.sleep(random.uniform(0, PAUSE))
        return None

    def _get(self, path: str, **query: Any) -> Any:
        return self._adapter.get(path, **query).json()


def _provider(item: Mapping[str, Any]) -> Provider:
    return Provider(
        uuid=item['uuid'],
        name=item['name'],
        generation=int(item['generation']),
        parent_uuid=item.get('parent_provider_uuid'),
    )


def _inventory(resource_class: str, item: Mapping[str, Any]) -> Inventory:
    return Inventory(
        resource_class=resource_class,
        total=int(item['total']),
        reserved=int(item['reserved']),
        allocation_ratio=float(item['allocation_ratio']),
        min_unit=int(item['min_unit']),
        max_unit=int(item['max_unit']),
        step_size=int(item['step_size']),
    )


def _quoted(name: str) -> str:
    return urllib.parse.quote(name, safe='')
