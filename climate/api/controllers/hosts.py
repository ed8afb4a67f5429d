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

"""``/os-hosts``: the resources of type ``physical:host`` in the form that clients know."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pecan

from climate.api.controllers import base
from climate.api.controllers.allocations import AllocationController
from climate.api.controllers.allocations import AllocationsController
from climate.api.controllers.properties import PropertiesController
from climate.api.routing import Request
from climate.api.schemas import hosts as schemas
from climate.api.services import ApiSettings
from climate.api.services import Services
from climate.api.views import hosts as view
from climate.domain.requests import ResourceChange
from climate.domain.resources import Resource
from climate.domain.resources import ResourceDraft
from climate.plugins.host.plugin import RESOURCE_TYPE as HOST
from climate.policies import hosts as policies


class HostsController(base.Controller):
    """``/os-hosts``."""

    noun = 'hosts'

    def __init__(self, services: Services, settings: ApiSettings) -> None:
        super().__init__(services, settings)
        self.allocations = AllocationsController(services, settings, HOST)
        self.properties = PropertiesController(services, settings, HOST)

    @pecan.expose()
    def _lookup(self, host_id: str, *rest: str) -> tuple[HostController, tuple[str, ...]]:
        return HostController(self._services, self._settings, base.key(host_id)), rest

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.LIST)
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """List the hosts."""
        hosts = self._services.resources.list(HOST, req.scope.sees_private)
        return {'hosts': [view.host(one, req.scope.version) for one in hosts]}

    @index.when(method='POST', template='json')
    @base.guard(policies.CREATE)
    def create(self, req: Request, resp: Any) -> dict[str, Any]:
        """Register a host of the cloud."""
        name, capabilities = schemas.read_new(req.scope.body())
        host = self._services.resources.create(
            ResourceDraft(resource_type=HOST, name=name, capabilities=capabilities)
        )
        resp.status = HTTPStatus.CREATED
        return {'host': view.host(host, req.scope.version)}


class HostController(base.Item):
    """``/os-hosts/{host_id}``."""

    noun = 'hosts'

    def __init__(self, services: Services, settings: ApiSettings, key: str) -> None:
        super().__init__(services, settings, key)
        self.allocation = AllocationController(services, settings, key, HOST)

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.SHOW)
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """Show a host."""
        host = self._services.resources.get(self._id(), req.scope.sees_private, HOST)
        return self._answer(host, req)

    @index.when(method='PUT', template='json')
    @base.guard(policies.UPDATE)
    def update(self, req: Request, resp: Any) -> dict[str, Any]:
        """Set and remove capabilities."""
        change = ResourceChange(capabilities=schemas.read_change(req.scope.body()))
        return self._answer(self._services.resources.update(self._id(), change, HOST), req)

    @index.when(method='DELETE', content_type='application/json')
    @base.guard(policies.DELETE)
    def delete(self, req: Request, resp: Any) -> None:
        """Deregister a host."""
        self._services.resources.delete(self._id(), HOST)
        resp.status = HTTPStatus.NO_CONTENT

    def _id(self) -> int:
        return base.resource_id('host_id', self._key)

    def _answer(self, host: Resource, req: Request) -> dict[str, Any]:
        return {'host': view.host(host, req.scope.version)}
