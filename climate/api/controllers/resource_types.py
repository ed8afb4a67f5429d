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

"""``/resource-types``."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pecan

from climate.api import bodies
from climate.api.controllers import base
from climate.api.microversions import V1_2
from climate.api.routing import Request
from climate.api.schemas import resource_types as schemas
from climate.api.views import resource_types as view
from climate.domain.resource_types import ResourceType
from climate.policies import resource_types as policies


class ResourceTypesController(base.Controller):
    """``/resource-types``."""

    noun = 'resource_types'
    since = V1_2

    @pecan.expose()
    def _lookup(self, type_name: str, *rest: str) -> tuple[ResourceTypeController, tuple[str, ...]]:
        return ResourceTypeController(self._services, self._settings, base.key(type_name)), rest

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.LIST, large=True)
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """List the available resource types."""
        found = self._services.resource_types.list()
        return {'resource_types': [view.resource_type(one, req.scope.version) for one in found]}

    @index.when(method='POST', template='json')
    @base.guard(policies.CREATE)
    def create(self, req: Request, resp: Any) -> dict[str, Any]:
        """Declare a type."""
        body = bodies.read(req.environ)
        declared = schemas.read_new(body, version=req.scope.version)
        made = self._services.resource_types.create(declared)
        resp.status = HTTPStatus.CREATED
        return {'resource_type': view.resource_type(made, req.scope.version)}


class ResourceTypeController(base.Item):
    """``/resource-types/{type_name}``."""

    noun = 'resource_types'
    since = V1_2

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.SHOW)
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """Show a type."""
        return self._answer(self._services.resource_types.get(self._key), req)

    @index.when(method='PUT', template='json')
    @base.guard(policies.UPDATE)
    def update(self, req: Request, resp: Any) -> dict[str, Any]:
        """Change a declared type."""
        body = bodies.read(req.environ)
        schemas.check_change(body, req.scope.version)
        made = self._services.resource_types.update(
            self._key, lambda old: schemas.changed(old, body)
        )
        return self._answer(made, req)

    @index.when(method='DELETE', content_type='application/json')
    @base.guard(policies.DELETE)
    def delete(self, req: Request, resp: Any) -> None:
        """Delete a declared type."""
        self._services.resource_types.delete(self._key)
        resp.status = HTTPStatus.NO_CONTENT

    def _answer(self, value: ResourceType, req: Request) -> dict[str, Any]:
        return {'resource_type': view.resource_type(value, req.scope.version)}
