# SPDX-License-Identifier: Apache-2.0

"""``/resource-types``."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from climate.api.http import bodies
from climate.api.http.microversions import V1_2
from climate.api.routing import base
from climate.api.routing.routes import Route
from climate.api.routing.routing import Request
from climate.api.schemas import resource_types as schemas
from climate.api.views import resource_types as view
from climate.domain.resource_types import ResourceType
from climate.policies import resource_types as policies


class ResourceTypesController(base.Controller):
    """``/resource-types``."""

    noun = 'resource_types'
    since = V1_2

    def routes(self) -> Iterable[Route]:
        """Return the routes."""
        return (
            self._route('GET', '/resource-types', self.index, policies.LIST, large=True),
            self._route('POST', '/resource-types', self.create, policies.CREATE),
            self._route('GET', '/resource-types/{type_name}', self.show, policies.SHOW),
            self._route('PUT', '/resource-types/{type_name}', self.update, policies.UPDATE),
            self._route('DELETE', '/resource-types/{type_name}', self.delete, policies.DELETE),
        )

    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """List the available resource types."""
        types = self._services.resource_types.list()
        return {'resource_types': [view.resource_type(one, req.scope.version) for one in types]}

    def create(self, req: Request, resp: Any) -> dict[str, Any]:
        """Declare a type."""
        body = bodies.read(req.environ)
        declared = schemas.read_new(body, version=req.scope.version)
        made = self._services.resource_types.create(declared)
        resp.status = HTTPStatus.CREATED
        return {'resource_type': view.resource_type(made, req.scope.version)}

    def show(self, req: Request, resp: Any, type_name: str) -> dict[str, Any]:
        """Show a type."""
        return self._answer(self._services.resource_types.get(type_name), req)

    def update(self, req: Request, resp: Any, type_name: str) -> dict[str, Any]:
        """Change a declared type."""
        body = bodies.read(req.environ)
        schemas.check_change(body, req.scope.version)
        made = self._services.resource_types.update(
            type_name, lambda old: schemas.changed(old, body)
        )
        return self._answer(made, req)

    def delete(self, req: Request, resp: Any, type_name: str) -> None:
        """Delete a declared type."""
        self._services.resource_types.delete(type_name)
        resp.status = HTTPStatus.NO_CONTENT

    def _answer(self, value: ResourceType, req: Request) -> dict[str, Any]:
        return {'resource_type': view.resource_type(value, req.scope.version)}
