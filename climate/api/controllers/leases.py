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

"""``/leases``."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pecan

from climate.api import bodies
from climate.api import microversions
from climate.api import queries
from climate.api import streams
from climate.api.controllers import base
from climate.api.routing import Request
from climate.api.routing import Scope
from climate.api.schemas import leases as schemas
from climate.api.schemas import reallocations
from climate.api.views import leases as view
from climate.domain.leases import Lease
from climate.exceptions import PolicyNotAuthorized
from climate.policies import leases as policies


class LeasesController(base.Controller):
    """``/leases``."""

    noun = 'leases'

    @pecan.expose()
    def _lookup(self, lease_id: str, *rest: str) -> tuple[LeaseController, tuple[str, ...]]:
        return LeaseController(self._services, self._settings, base.key(lease_id)), rest

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.LIST, None)
    def index(self, req: Request, resp: Any) -> Any:
        """List the leases that the caller can see."""
        scope = req.scope
        query = queries.leases(
            scope.parameters,
            scope.version,
            project_id=_wanted_project(scope),
            now=scope.now,
            max_limit=self._settings.max_limit,
        )
        if query.limit is None:
            batches = self._services.leases.batches(query)
            shown_batches = ([self._shown(one, scope) for one in batch] for batch in batches)
            return streams.listed(req, resp, 'leases', shown_batches)
        page = self._services.leases.page(query)
        shown: dict[str, Any] = {'leases': [self._shown(one, scope) for one in page.leases]}
        if page.more and page.leases:
            href = queries.next_page(req.path_url, scope.parameters, page.leases[-1].id)
            shown['leases_links'] = [{'rel': 'next', 'href': href}]
        return shown

    @index.when(method='POST', template='json')
    @base.guard(policies.CREATE)
    def create(self, req: Request, resp: Any) -> dict[str, Any]:
        """Create a lease."""
        scope = req.scope
        reader = schemas.Reader(bodies.read(req.environ), scope.version, scope.now)
        draft = reader.draft(self._settings.max_reservations)
        lease = self._services.leases.create(scope.caller, draft)
        resp.status = HTTPStatus.CREATED
        return {'lease': self._shown(lease, scope)}

    def _shown(self, lease: Lease, scope: Scope) -> dict[str, Any]:
        return view.lease(lease, self._services.plugins, scope.version)


class LeaseController(base.Item):
    """``/leases/{lease_id}``."""

    noun = 'leases'

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.SHOW)
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """Show a lease."""
        return self._answer(self._services.leases.get(self._id(), req.scope.project_id), req)

    @index.when(method='PUT', template='json')
    @base.guard(policies.UPDATE)
    def update(self, req: Request, resp: Any) -> dict[str, Any]:
        """Change a lease."""
        scope, leases, lease_id = req.scope, self._services.leases, self._id()
        reader = schemas.Reader(bodies.read(req.environ), scope.version, scope.now)
        change = reader.change(lambda: leases.get(lease_id, scope.project_id).period.start)
        return self._answer(leases.update(scope.caller, lease_id, scope.project_id, change), req)

    @index.when(method='DELETE', content_type='application/json')
    @base.guard(policies.DELETE)
    def delete(self, req: Request, resp: Any) -> None:
        """Delete a lease; a manager cleans up the cloud afterwards."""
        self._services.leases.delete(req.scope.caller, self._id(), req.scope.project_id)
        resp.status = HTTPStatus.NO_CONTENT

    @pecan.expose(template='json')
    @base.guard(policies.REALLOCATE, method='POST', since=microversions.V1_2)
    def reallocate(self, req: Request, resp: Any) -> dict[str, Any]:
        """Replace a resource of a lease with another one."""
        scope, lease_id = req.scope, self._id()
        wanted = reallocations.read(bodies.read(req.environ))
        if wanted.forced:
            scope.authorize(policies.FORCE)
        return self._answer(
            self._services.leases.reallocate(lease_id, scope.project_id, wanted), req
        )

    @pecan.expose(template='json')
    @base.guard(policies.SHOW, since=microversions.V1_3)
    def history(self, req: Request, resp: Any) -> dict[str, Any]:
        """Show what was done for a lease in the cloud, and the events it awaits."""
        found = self._services.leases.history(self._id(), req.scope.project_id)
        return {'history': view.history(found, req.scope.version)}

    @pecan.expose(template='json')
    @base.guard(policies.READINESS, method='POST', since=microversions.V1_3)
    def readiness(self, req: Request, resp: Any) -> dict[str, Any]:
        """Record which resources of a lease are ready."""
        # Callers that may record readiness see the leases of every project.
        report = schemas.read_readiness(bodies.read(req.environ), req.scope.now)
        return self._answer(self._services.leases.say(self._id(), report), req)

    def _id(self) -> str:
        return base.uuid('lease_id', self._key)

    def _answer(self, lease: Lease, req: Request) -> dict[str, Any]:
        return {'lease': view.lease(lease, self._services.plugins, req.scope.version)}


def _wanted_project(scope: Scope) -> str | None:
    wanted = queries.one(scope.parameters, 'project_id')
    if scope.version < microversions.V1_1 or wanted is None:
        return scope.project_id
    if wanted != scope.caller.project_id and not scope.caller.all_projects:
        raise PolicyNotAuthorized(action=policies.ALL_PROJECTS)
    return wanted
