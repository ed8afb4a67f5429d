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

"""Resources of any type."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pecan

from climate.api import queries
from climate.api.controllers import base
from climate.api.schemas import resources as schemas
from climate.api.views import resources as view
from climate.leasing import registrar
from climate.policies import resources as policies


class ResourcesController(base.Controller):
    """What can be done with resources over HTTP."""

    @pecan.expose('json')
    def index(self, req: Any, resp: Any) -> dict[str, Any]:
        """Answer with the resources asked for, a page at a time."""
        scope = self._scope(req)
        scope.authorize(policies.LIST)
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

    @pecan.expose('json')
    def create(self, req: Any, resp: Any) -> dict[str, Any]:
        """Register a resource."""
        scope = self._scope(req)
        scope.authorize(policies.CREATE)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        body = scope.body()
        schemas.check_new(body)
        plugin = registrar.owner(self._services.plugins, body['resource_type'])
        draft = schemas.read_new(body, plugin.resource_schema or {})
        made = self._services.resources.create(draft)
        resp.status = HTTPStatus.CREATED
        return {'resource': view.resource(made, scope.version)}

    @pecan.expose('json')
    def show(self, req: Any, resp: Any, resource_id: str) -> dict[str, Any]:
        """Answer with one resource."""
        scope = self._scope(req)
        scope.authorize(policies.SHOW)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        found = self._services.resources.get(
            base.resource_id(resource_id), scope.sees_private, project_id=scope.project_id
        )
        return {'resource': view.resource(found, scope.version)}

    @pecan.expose('json')
    def update(self, req: Any, resp: Any, resource_id: str) -> dict[str, Any]:
        """Change what operators say of a resource."""
        scope = self._scope(req)
        scope.authorize(policies.UPDATE)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        number, resources = base.resource_id(resource_id), self._services.resources
        body = scope.body()
        schemas.check_change(body)
        change = schemas.read_change(body, resources.get(number, True).resource_type)
        return {'resource': view.resource(resources.update(number, change), scope.version)}

    @pecan.expose('json')
    def delete(self, req: Any, resp: Any, resource_id: str) -> Any:
        """Let a resource go."""
        scope = self._scope(req)
        scope.authorize(policies.DELETE)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        self._services.resources.delete(base.resource_id(resource_id))
        return base.empty(resp)
