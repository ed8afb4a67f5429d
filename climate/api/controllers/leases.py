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

"""Leases."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pecan

from climate.api import drafts
from climate.api import microversions
from climate.api import queries
from climate.api import streams
from climate.api.controllers import base
from climate.api.schemas import readiness
from climate.api.schemas import reallocations
from climate.api.scope import Scope
from climate.api.views import history as history_view
from climate.api.views import leases as view
from climate.domain.leases import Lease
from climate.exceptions import PolicyNotAuthorized
from climate.policies import leases as policies


class LeasesController(base.Controller):
    """What can be done with leases over HTTP."""

    @pecan.expose('json')
    def index(self, req: Any, resp: Any) -> Any:
        """Answer with the leases the caller may see."""
        scope = self._scope(req)
        scope.authorize(policies.LIST)
        query = queries.leases(
            scope.parameters,
            scope.version,
            project_id=self._wanted_project(scope),
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

    @pecan.expose('json')
    def create(self, req: Any, resp: Any) -> dict[str, Any]:
        """Book a lease."""
        scope = self._scope(req)
        scope.authorize(policies.CREATE)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        reader = drafts.Reader(scope.body(), scope.version, scope.now)
        draft = reader.draft(self._settings.max_reservations)
        lease = self._services.leases.create(scope.caller, draft)
        resp.status = HTTPStatus.CREATED
        return {'lease': self._shown(lease, scope)}

    @pecan.expose('json')
    def show(self, req: Any, resp: Any, lease_id: str) -> dict[str, Any]:
        """Answer with one lease."""
        scope = self._scope(req)
        scope.authorize(policies.SHOW)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        lease = self._services.leases.get(base.lease_id(lease_id), scope.project_id)
        return {'lease': self._shown(lease, scope)}

    @pecan.expose('json')
    def update(self, req: Any, resp: Any, lease_id: str) -> dict[str, Any]:
        """Change a lease."""
        scope = self._scope(req)
        scope.authorize(policies.UPDATE)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        found = base.lease_id(lease_id)
        leases = self._services.leases
        reader = drafts.Reader(scope.body(), scope.version, scope.now)
        change = reader.change(lambda: leases.get(found, scope.project_id).period.start)
        lease = leases.update(scope.caller, found, scope.project_id, change)
        return {'lease': self._shown(lease, scope)}

    @pecan.expose('json')
    def delete(self, req: Any, resp: Any, lease_id: str) -> Any:
        """Delete a lease; the cloud is cleaned up by a manager afterwards."""
        scope = self._scope(req)
        scope.authorize(policies.DELETE)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        self._services.leases.delete(scope.caller, base.lease_id(lease_id), scope.project_id)
        return base.empty(resp)

    @pecan.expose('json')
    def reallocate(self, req: Any, resp: Any, lease_id: str) -> dict[str, Any]:
        """Have a resource of a lease replaced by another one."""
        scope = self._scope(req)
        scope.authorize(policies.REALLOCATE)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        found = base.lease_id(lease_id)
        wanted = reallocations.read(scope.body())
        if wanted.forced:
            scope.authorize(policies.FORCE)
        lease = self._services.leases.reallocate(found, scope.project_id, wanted)
        return {'lease': self._shown(lease, scope)}

    @pecan.expose('json')
    def history(self, req: Any, resp: Any, lease_id: str) -> dict[str, Any]:
        """Answer with what happened to a lease in the cloud, and what is awaited."""
        scope = self._scope(req)
        scope.authorize(policies.SHOW)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        found = self._services.leases.history(base.lease_id(lease_id), scope.project_id)
        return {'history': history_view.history(found, scope.version)}

    @pecan.expose('json')
    def say(self, req: Any, resp: Any, lease_id: str) -> dict[str, Any]:
        """Keep what is said of the resources of a lease."""
        scope = self._scope(req)
        scope.authorize(policies.READINESS)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        # Who may say so hears of the leases of every project.
        said = readiness.read(scope.body(), scope.now)
        lease = self._services.leases.say(base.lease_id(lease_id), said)
        return {'lease': self._shown(lease, scope)}

    def _wanted_project(self, scope: Scope) -> str | None:
        wanted = queries.one(scope.parameters, 'project_id')
        if scope.version < microversions.V1_1 or wanted is None:
            return scope.project_id
        if wanted != scope.caller.project_id and not scope.caller.all_projects:
            raise PolicyNotAuthorized(action=policies.ALL_PROJECTS)
        return wanted

    def _shown(self, lease: Lease, scope: Scope) -> dict[str, Any]:
        return view.lease(lease, self._services.plugins, scope.version)
