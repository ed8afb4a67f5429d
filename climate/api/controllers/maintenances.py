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

"""``/maintenances``."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pecan

from climate.api import bodies
from climate.api.controllers import base
from climate.api.microversions import V1_2
from climate.api.microversions import V1_5
from climate.api.routing import Request
from climate.api.schemas import maintenances as schemas
from climate.api.views import maintenances as view
from climate.policies import maintenances as policies


class MaintenancesController(base.Controller):
    """``/maintenances``."""

    noun = 'maintenances'
    since = V1_2

    @pecan.expose()
    def _lookup(
        self, maintenance_id: str, *rest: str
    ) -> tuple[MaintenanceController, tuple[str, ...]]:
        key = base.key(maintenance_id)
        return MaintenanceController(self._services, self._settings, key), rest

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.LIST, large=True)
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """List the maintenances that have not ended."""
        found = self._services.maintenances.list()
        return {'maintenances': [view.maintenance(one, req.scope.version) for one in found]}

    @index.when(method='POST', template='json')
    @base.guard(policies.CREATE)
    def create(self, req: Request, resp: Any) -> dict[str, Any]:
        """Announce a maintenance."""
        scope = req.scope
        draft = schemas.read_new(
            bodies.read(req.environ), scope.now, scope.version, scope.object_id
        )
        made = self._services.maintenances.create(scope.caller, draft)
        resp.status = HTTPStatus.CREATED
        return {'maintenance': view.maintenance(made, scope.version)}


class MaintenanceController(base.Item):
    """``/maintenances/{maintenance_id}``."""

    noun = 'maintenances'
    since = V1_2

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.SHOW)
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """Show a maintenance."""
        found = self._services.maintenances.get(self._id())
        return {'maintenance': view.maintenance(found, req.scope.version)}

    @index.when(method='PUT', template='json')
    @base.guard(policies.UPDATE, since=V1_5)
    def update(self, req: Request, resp: Any) -> dict[str, Any]:
        """Change the period or the reason of a maintenance."""
        scope = req.scope
        change = schemas.read_change(bodies.read(req.environ), scope.now, scope.version)
        found = self._services.maintenances.update(self._id(), change)
        return {'maintenance': view.maintenance(found, scope.version)}

    @index.when(method='DELETE', content_type='application/json')
    @base.guard(policies.DELETE)
    def delete(self, req: Request, resp: Any) -> None:
        """Cancel a maintenance."""
        self._services.maintenances.delete(self._id())
        resp.status = HTTPStatus.NO_CONTENT

    def _id(self) -> str:
        return base.uuid('maintenance_id', self._key)
