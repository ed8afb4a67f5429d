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

"""Maintenances."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pecan

from climate.api import queries
from climate.api.controllers import base
from climate.api.schemas import maintenances as schemas
from climate.api.views import maintenances as view
from climate.policies import maintenances as policies


class MaintenancesController(base.Controller):
    """What can be done with maintenances over HTTP."""

    @pecan.expose('json')
    def index(self, req: Any, resp: Any) -> dict[str, Any]:
        """Answer with those that are not over yet."""
        scope = self._scope(req)
        scope.authorize(policies.LIST)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        found = self._services.maintenances.list()
        return {'maintenances': [view.maintenance(one, scope.version) for one in found]}

    @pecan.expose('json')
    def create(self, req: Any, resp: Any) -> dict[str, Any]:
        """Announce a maintenance."""
        scope = self._scope(req)
        scope.authorize(policies.CREATE)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        draft = schemas.read_new(scope.body(), scope.now, scope.version)
        made = self._services.maintenances.create(scope.caller, draft)
        resp.status = HTTPStatus.CREATED
        return {'maintenance': view.maintenance(made, scope.version)}

    @pecan.expose('json')
    def show(self, req: Any, resp: Any, maintenance_id: str) -> dict[str, Any]:
        """Answer with one maintenance."""
        scope = self._scope(req)
        scope.authorize(policies.SHOW)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        found = self._services.maintenances.get(base.maintenance_id(maintenance_id))
        return {'maintenance': view.maintenance(found, scope.version)}

    @pecan.expose('json')
    def delete(self, req: Any, resp: Any, maintenance_id: str) -> Any:
        """Cancel a maintenance."""
        scope = self._scope(req)
        scope.authorize(policies.DELETE)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        self._services.maintenances.delete(base.maintenance_id(maintenance_id))
        return base.empty(resp)
