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

"""Floating IPs: the resources of that type as existing clients know them."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pecan

from climate.api import queries
from climate.api.controllers import base
from climate.api.routes import FLOATING_IP
from climate.api.schemas import floatingips as schemas
from climate.api.views import floatingips as view
from climate.domain.resources import ResourceDraft
from climate.policies import floatingips as policies


class FloatingIPsController(base.Controller):
    """What can be done with floating IPs over HTTP."""

    @pecan.expose('json')
    def index(self, req: Any, resp: Any) -> dict[str, Any]:
        """Answer with every floating IP."""
        scope = self._scope(req)
        scope.authorize(policies.LIST)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        found = self._services.resources.list(FLOATING_IP, False)
        return {'floatingips': [view.floatingip(one, scope.version) for one in found]}

    @pecan.expose('json')
    def create(self, req: Any, resp: Any) -> dict[str, Any]:
        """Register an address that Neutron gives to nobody by itself."""
        scope = self._scope(req)
        scope.authorize(policies.CREATE)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        attributes = schemas.read_new(scope.version, scope.body())
        made = self._services.resources.create(
            ResourceDraft(resource_type=FLOATING_IP, attributes=attributes)
        )
        resp.status = HTTPStatus.CREATED
        return {'floatingip': view.created(made, scope.version)}

    @pecan.expose('json')
    def show(self, req: Any, resp: Any, floatingip_id: str) -> dict[str, Any]:
        """Answer with one floating IP."""
        scope = self._scope(req)
        scope.authorize(policies.SHOW)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        number = base.resource_id(floatingip_id, 'floatingip_id')
        found = self._services.resources.get(number, False, FLOATING_IP)
        return {'floatingip': view.floatingip(found, scope.version)}

    @pecan.expose('json')
    def delete(self, req: Any, resp: Any, floatingip_id: str) -> Any:
        """Let a floating IP go."""
        scope = self._scope(req)
        scope.authorize(policies.DELETE)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        number = base.resource_id(floatingip_id, 'floatingip_id')
        self._services.resources.delete(number, FLOATING_IP)
        return base.empty(resp)
