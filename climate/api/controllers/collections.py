# SPDX-License-Identifier: Apache-2.0

"""The collections that resource types declare, such as ``/os-hosts``."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from climate.api.http import bodies
from climate.api.routing import base
from climate.api.routing.routes import Route
from climate.api.routing.routing import Request
from climate.api.routing.services import ApiSettings
from climate.api.routing.services import Services
from climate.api.schemas.collections import CollectionSchemas
from climate.api.views import collections as view
from climate.domain.resources import Resource
from climate.plugins.collection import ResourceCollection


class CollectionController(base.CollectionPart):
    """One collection."""

    def __init__(
        self, services: Services, settings: ApiSettings, collection: ResourceCollection
    ) -> None:
        super().__init__(services, settings, collection)
        self.noun = collection.noun
        self._type = collection.resource_type
        self._schemas = CollectionSchemas(collection)

    def routes(self) -> Iterable[Route]:
        """Yield the routes."""
        path = f'/{self._collection.path}'
        item = f'{path}/{{{self._collection.item_id}}}'
        yield self._route('GET', path, self.index, self._rule('list'), large=True)
        yield self._route('POST', path, self.create, self._rule('create'))
        yield self._route('GET', item, self.show, self._rule('show'))
        if self._collection.properties:
            yield self._route('PUT', item, self.update, self._rule('update'))
        yield self._route('DELETE', item, self.delete, self._rule('delete'))

    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """List the resources."""
        listed = self._services.resources.list(self._type, self._sees_private(req))
        version = req.scope.version
        return {self.noun: [view.item(self._collection, one, version) for one in listed]}

    def create(self, req: Request, resp: Any) -> dict[str, Any]:
        """Register a resource."""
        version = req.scope.version
        draft = self._schemas.read_new(version, bodies.read(req.environ))
        made = self._services.resources.create(draft)
        resp.status = HTTPStatus.CREATED
        return {self._collection.item: view.created(self._collection, made, version)}

    def show(self, req: Request, resp: Any, resource_id: int) -> dict[str, Any]:
        """Show a resource."""
        private = self._sees_private(req)
        return self._answer(self._services.resources.get(resource_id, private, self._type), req)

    def update(self, req: Request, resp: Any, resource_id: int) -> dict[str, Any]:
        """Set or remove properties; from 1.6 on, also follow a new name."""
        change = self._schemas.read_change(req.scope.version, bodies.read(req.environ))
        return self._answer(self._services.resources.update(resource_id, change, self._type), req)

    def delete(self, req: Request, resp: Any, resource_id: int) -> None:
        """Unregister a resource."""
        self._services.resources.delete(resource_id, self._type)
        resp.status = HTTPStatus.NO_CONTENT

    def _answer(self, resource: Resource, req: Request) -> dict[str, Any]:
        shown = view.item(self._collection, resource, req.scope.version)
        return {self._collection.item: shown}

    def _rule(self, verb: str) -> str:
        return f'climate:{self.noun}:{verb}'

    def _sees_private(self, req: Request) -> bool:
        return self._collection.properties and req.scope.sees_private
