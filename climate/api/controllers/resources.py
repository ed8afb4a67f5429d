# SPDX-License-Identifier: Apache-2.0

"""``/resources``: resources of any type."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from climate.api.http import bodies
from climate.api.http import queries
from climate.api.http.microversions import V1_2
from climate.api.http.microversions import V1_6
from climate.api.routing import base
from climate.api.routing.routes import Route
from climate.api.routing.routing import Request
from climate.api.schemas import resources as schemas
from climate.api.views import resources as view
from climate.domain.resources import Resource
from climate.policies import resources as policies
from climate.resources import registrar


class ResourcesController(base.Controller):
    """``/resources``."""

    noun = 'resources'
    since = V1_2

    def routes(self) -> Iterable[Route]:
        """Return the routes."""
        item = '/resources/{resource_id}'
        return (
            self._route('GET', '/resources', self.index, policies.LIST, None, large=True),
            self._route('POST', '/resources', self.create, policies.CREATE),
            self._route('GET', item, self.show, policies.SHOW),
            self._route('PUT', item, self.update, policies.UPDATE),
            self._route('DELETE', item, self.delete, policies.DELETE),
            self._route('POST', f'{item}/refresh', self.refresh, policies.REFRESH, since=V1_6),
        )

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

    def create(self, req: Request, resp: Any) -> dict[str, Any]:
        """Register a resource."""
        body = bodies.read(req.environ)
        schemas.check_new(body)
        plugin = registrar.owner(self._services.plugins, body['resource_type'])
        draft = schemas.read_new(body, plugin.resource_schema or {}, plugin.reserved_properties)
        made = self._services.resources.create(draft)
        resp.status = HTTPStatus.CREATED
        return {'resource': view.resource(made, req.scope.version)}

    def show(self, req: Request, resp: Any, resource_id: int) -> dict[str, Any]:
        """Show a resource."""
        scope = req.scope
        resource = self._services.resources.get(
            resource_id, scope.sees_private, project_id=scope.project_id
        )
        return self._answer(resource, req)

    def update(self, req: Request, resp: Any, resource_id: int) -> dict[str, Any]:
        """Change the name, properties or inventories of a resource, or disable it."""
        resources = self._services.resources
        body = bodies.read(req.environ)
        schemas.check_change(req.scope.version, body)
        plugin = self._services.plugins.get(resources.get(resource_id, True).resource_type)
        change = schemas.read_change(body, plugin.reserved_properties if plugin else ())
        return self._answer(resources.update(resource_id, change), req)

    def delete(self, req: Request, resp: Any, resource_id: int) -> None:
        """Unregister a resource."""
        self._services.resources.delete(resource_id)
        resp.status = HTTPStatus.NO_CONTENT

    def refresh(self, req: Request, resp: Any, resource_id: int) -> dict[str, Any]:
        """Read a resource again from the cloud."""
        return self._answer(self._services.resources.refresh(resource_id), req)

    def _answer(self, resource: Resource, req: Request) -> dict[str, Any]:
        return {'resource': view.resource(resource, req.scope.version)}
