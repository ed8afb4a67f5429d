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

"""``/floatingips``: the resources of that type in the form that clients know."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pecan

from climate.api.controllers import base
from climate.api.routing import Request
from climate.api.schemas import floatingips as schemas
from climate.api.views import floatingips as view
from climate.domain.resources import ResourceDraft
from climate.plugins.floating_ip.plugin import RESOURCE_TYPE as FLOATING_IP
from climate.policies import floatingips as policies


class FloatingIPsController(base.Controller):
    """``/floatingips``."""

    noun = 'floatingips'

    @pecan.expose()
    def _lookup(
        self, floatingip_id: str, *rest: str
    ) -> tuple[FloatingIPController, tuple[str, ...]]:
        key = base.key(floatingip_id)
        return FloatingIPController(self._services, self._settings, key), rest

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.LIST)
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """List the floating IPs."""
        found = self._services.resources.list(FLOATING_IP, False)
        return {'floatingips': [view.floatingip(one, req.scope.version) for one in found]}

    @index.when(method='POST', template='json')
    @base.guard(policies.CREATE)
    def create(self, req: Request, resp: Any) -> dict[str, Any]:
        """Register an address outside of Neutron's allocation pools."""
        attributes = schemas.read_new(req.scope.version, req.scope.body())
        made = self._services.resources.create(
            ResourceDraft(resource_type=FLOATING_IP, attributes=attributes)
        )
        resp.status = HTTPStatus.CREATED
        return {'floatingip': view.created(made, req.scope.version)}


class FloatingIPController(base.Item):
    """``/floatingips/{floatingip_id}``."""

    noun = 'floatingips'

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.SHOW)
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """Show a floating IP."""
        found = self._services.resources.get(self._id(), False, FLOATING_IP)
        return {'floatingip': view.floatingip(found, req.scope.version)}

    @index.when(method='DELETE', content_type='application/json')
    @base.guard(policies.DELETE)
    def delete(self, req: Request, resp: Any) -> None:
        """Deregister a floating IP."""
        self._services.resources.delete(self._id(), FLOATING_IP)
        resp.status = HTTPStatus.NO_CONTENT

    def _id(self) -> int:
        return base.resource_id('floatingip_id', self._key)
