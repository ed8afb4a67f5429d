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

"""Placement, over a keystoneauth adapter.

Failure and drift: as in :mod:`climate.clients.nova`. Generations are told,
not kept: whoever writes inventories has to read the provider before.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from keystoneauth1 import adapter as ksa_adapter

from climate.clients.base import CloudNotFound
from climate.clients.base import Provider
from climate.clients.errors import Errors
from climate.domain.resources import Inventory

# The first one whose answer to a creation has the provider in it.
MICROVERSION = '1.20'


class PlacementClient:
    """Fulfils :class:`climate.clients.base.Placement`.

    :param adapter: for the service type ``placement``; raises for errors
    :param errors: for Placement
    """

    def __init__(self, adapter: ksa_adapter.Adapter, errors: Errors) -> None:
        self._adapter = adapter
        self._errors = errors

    def find_provider(self, name: str) -> Provider | None:
        """Return the provider of exactly this name; None if there is none."""
        with self._errors.translated('find_provider'):
            answer = self._get('/resource_providers', params={'name': name})
            found = [_provider(item) for item in answer['resource_providers']]
        return found[0] if found else None

    def create_provider(self, name: str, parent_uuid: str | None) -> Provider:
        """Make a provider without inventories, nested in another or a root."""
        body = {'name': name}
        if parent_uuid is not None:
            body['parent_provider_uuid'] = parent_uuid
        with self._errors.translated('create_provider'):
            # After a time-out nobody knows whether it was made: not sent twice.
            answer = self._adapter.post('/resource_providers', json=body, connect_retries=0)
            return _provider(answer.json())

    def delete_provider(self, uuid: str) -> None:
        """Remove a provider; fine if it is gone already."""
        with contextlib.suppress(CloudNotFound), self._errors.translated('delete_provider'):
            self._adapter.delete(f'/resource_providers/{uuid}')

    def inventories(self, uuid: str) -> tuple[Inventory, ...]:
        """Return the inventories of a provider, by resource class."""
        with self._errors.translated('inventories'):
            found = self._get(f'/resource_providers/{uuid}/inventories')['inventories']
            return tuple(_inventory(name, found[name]) for name in sorted(found))

    def traits(self, uuid: str) -> frozenset[str]:
        """Return the traits of a provider."""
        with self._errors.translated('traits'):
            return frozenset(self._get(f'/resource_providers/{uuid}/traits')['traits'])

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
