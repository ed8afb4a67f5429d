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

"""The collections that resource types declare, such as ``/os-hosts``.

Each collection has controller classes of its own, because pecan and the guards read the
policy rules from the class.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from typing import ClassVar

import pecan

from climate.api import bodies
from climate.api.controllers import base
from climate.api.controllers.allocations import AllocationController
from climate.api.controllers.allocations import AllocationsController
from climate.api.controllers.properties import PropertiesController
from climate.api.routing import Request
from climate.api.schemas.collections import CollectionSchemas
from climate.api.services import ApiSettings
from climate.api.services import Services
from climate.api.views import collections as view
from climate.domain.resources import Resource
from climate.plugins.collection import ResourceCollection


def controller(
    collection: ResourceCollection, services: Services, settings: ApiSettings
) -> base.Controller:
    """Return the controller of a collection."""
    return _controller(collection, CollectionSchemas(collection))(services, settings)


def _sees_private(collection: ResourceCollection, req: Request) -> bool:
    return collection.properties and req.scope.sees_private


def _controller(
    collection: ResourceCollection, schemas: CollectionSchemas
) -> type[base.Controller]:
    """Return the class of the controller of a collection."""
    name, item = collection.resource_type, _item_controller(collection, schemas)

    class CollectionController(base.Controller):
        """The collection."""

        noun = collection.noun
        item_id = collection.item_id

        def __init__(self, services: Services, settings: ApiSettings) -> None:
            super().__init__(services, settings)
            if collection.properties:
                self.allocations = AllocationsController(services, settings, name)
                self.properties = PropertiesController(services, settings, name)

        @pecan.expose()
        def _lookup(self, key: str, *rest: str) -> tuple[base.Item, tuple[str, ...]]:
            return item(self._services, self._settings, base.key(key)), rest

        @pecan.expose(generic=True, template='json')
        @base.guard(_rule(collection, 'list'), large=True)
        def index(self, req: Request, resp: Any) -> dict[str, Any]:
            """List the resources."""
            found = self._services.resources.list(name, _sees_private(collection, req))
            return {self.noun: [view.item(collection, one, req.scope.version) for one in found]}

        @index.when(method='POST', template='json')
        @base.guard(_rule(collection, 'create'))
        def create(self, req: Request, resp: Any) -> dict[str, Any]:
            """Register a resource."""
            version = req.scope.version
            made = self._services.resources.create(
                schemas.read_new(version, bodies.read(req.environ))
            )
            resp.status = HTTPStatus.CREATED
            return {collection.item: view.created(collection, made, version)}

    return CollectionController


class _Item(base.Item):
    """One resource of a collection.

    :cvar about: the collection
    """

    about: ClassVar[ResourceCollection]

    def __init__(self, services: Services, settings: ApiSettings, key: str) -> None:
        super().__init__(services, settings, key)
        if self.about.properties:
            self.allocation = AllocationController(
                services, settings, key, self.about.resource_type, self.about.item_id
            )

    def _id(self) -> int:
        return base.resource_id(self.about.item_id, self._key)

    def _answer(self, found: Resource, req: Request) -> dict[str, Any]:
        return {self.about.item: view.item(self.about, found, req.scope.version)}


def _item_controller(collection: ResourceCollection, schemas: CollectionSchemas) -> type[_Item]:
    """Return the class of the controller of one resource."""
    name = collection.resource_type

    class ItemController(_Item):
        """One resource of the collection."""

        noun = collection.noun
        about = collection

        @pecan.expose(generic=True, template='json')
        @base.guard(_rule(collection, 'show'))
        def index(self, req: Request, resp: Any) -> dict[str, Any]:
            """Show a resource."""
            private = _sees_private(collection, req)
            return self._answer(self._services.resources.get(self._id(), private, name), req)

        if collection.properties:

            @index.when(method='PUT', template='json')
            @base.guard(_rule(collection, 'update'))
            def update(self, req: Request, resp: Any) -> dict[str, Any]:
                """Set or remove properties; from 1.6 on, also follow a new name."""
                change = schemas.read_change(req.scope.version, bodies.read(req.environ))
                return self._answer(self._services.resources.update(self._id(), change, name), req)

        @index.when(method='DELETE', content_type='application/json')
        @base.guard(_rule(collection, 'delete'))
        def delete(self, req: Request, resp: Any) -> None:
            """Unregister a resource."""
            self._services.resources.delete(self._id(), name)
            resp.status = HTTPStatus.NO_CONTENT

    return ItemController


def _rule(collection: ResourceCollection, verb: str) -> str:
    return f'climate:{collection.noun}:{verb}'
