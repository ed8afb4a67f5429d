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

"""``/resources``: resources of any type."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pecan

from climate.api import bodies
from climate.api import queries
from climate.api.controllers import base
from climate.api.controllers.allocations import AllocationsOfAnyController
from climate.api.controllers.allocations import AllocationsOfOneController
from climate.api.controllers.properties import PropertiesOfAnyController
from climate.api.microversions import V1_2
from climate.api.microversions import V1_6
from climate.api.routing import Request
from climate.api.schemas import resources as schemas
from climate.api.services import ApiSettings
from climate.api.services import Services
from climate.api.views import resources as view
from climate.domain.resources import Resource
from climate.policies import resources as policies
from climate.resources import registrar


class ResourcesController(base.Controller):
    """``/resources``."""

    noun = 'resources'
    since = V1_2

    def __init__(self, services: Services, settings: ApiSettings) -> None:
        super().__init__(services, settings)
        self.allocations = AllocationsOfAnyController(services, settings)
        self.properties = PropertiesOfAnyController(services, settings)

    @pecan.expose()
    def _lookup(self, resource_id: str, *rest: str) -> tuple[ResourceController, tuple[str, ...]]:
        return ResourceController(self._services, self._settings, base.key(resource_id)), rest

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.LIST, None, large=True)
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """List resources, a page at a time."""
        scope = req.scope
        query = queries.resources(
            scope.parameters,
            scope.version,
            project_id=scope.project_id,
            max_limit=self._settings.max_limit,
        )
        page = self._services.resources.page(query, scope.sees_private)
        shown: dict[str, Any] = {
            'resources': [view.resource(one, scope.version) for one in page.resources]
        }
        if page.more and page.resources:
            last = str(page.resources[-1].id)
            href = queries.next_page(req.path_url, scope.parameters, last)
            shown['resources_links'] = [{'rel': 'next', 'href': href}]
        return shown

    @index.when(method='POST', template='json')
    @base.guard(policies.CREATE)
    def create(self, req: Request, resp: Any) -> dict[str, Any]:
        """Register a resource."""
        body = bodies.read(req.environ)
        schemas.check_new(body)
        plugin = registrar.owner(self._services.plugins, body['resource_type'])
        draft = schemas.read_new(body, plugin.resource_schema or {}, plugin.reserved_properties)
        made = self._services.resources.create(draft)
        resp.status = HTTPStatus.CREATED
        return {'resource': view.resource(made, req.scope.version)}


class ResourceController(base.Item):
    """``/resources/{resource_id}``."""

    noun = 'resources'
    since = V1_2

    def __init__(self, services: Services, settings: ApiSettings, key: str) -> None:
        super().__init__(services, settings, key)
        self.allocations = AllocationsOfOneController(services, settings, key)

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.SHOW)
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """Show a resource."""
        scope = req.scope
        found = self._services.resources.get(
            self._id(), scope.sees_private, project_id=scope.project_id
        )
        return self._answer(found, req)

    @index.when(method='PUT', template='json')
    @base.guard(policies.UPDATE)
    def update(self, req: Request, resp: Any) -> dict[str, Any]:
        """Change the name, properties or inventories of a resource, or disable it."""
        number, resources = self._id(), self._services.resources
        body = bodies.read(req.environ)
        schemas.check_change(req.scope.version, body)
        plugin = self._services.plugins.get(resources.get(number, True).resource_type)
        change = schemas.read_change(body, plugin.reserved_properties if plugin else ())
        return self._answer(resources.update(number, change), req)

    @index.when(method='DELETE', content_type='application/json')
    @base.guard(policies.DELETE)
    def delete(self, req: Request, resp: Any) -> None:
        """Unregister a resource."""
        self._services.resources.delete(self._id())
        resp.status = HTTPStatus.NO_CONTENT

    @pecan.expose(template='json')
    @base.guard(policies.REFRESH, method='POST', since=V1_6)
    def refresh(self, req: Request, resp: Any) -> dict[str, Any]:
        """Read a resource again from the cloud."""
        return self._answer(self._services.resources.refresh(self._id()), req)

    def _id(self) -> int:
        return base.resource_id('resource_id', self._key)

    def _answer(self, resource: Resource, req: Request) -> dict[str, Any]:
        return {'resource': view.resource(resource, req.scope.version)}
