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

"""Hosts: the resources of type ``physical:host`` as existing clients know them."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pecan

from climate.api import queries
from climate.api.controllers import base
from climate.api.schemas import hosts as schemas
from climate.api.views import hosts as view
from climate.domain.requests import ResourceChange
from climate.domain.resources import ResourceDraft
from climate.leasing.registrar import HOST
from climate.policies import hosts as policies


class HostsController(base.Controller):
    """What can be done with hosts over HTTP."""

    @pecan.expose('json')
    def index(self, req: Any, resp: Any) -> dict[str, Any]:
        """Answer with every host."""
        scope = self._scope(req)
        scope.authorize(policies.LIST)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        hosts = self._services.resources.list(HOST, scope.sees_private)
        return {'hosts': [view.host(one, scope.version) for one in hosts]}

    @pecan.expose('json')
    def create(self, req: Any, resp: Any) -> dict[str, Any]:
        """Register a host of the cloud."""
        scope = self._scope(req)
        scope.authorize(policies.CREATE)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        name, capabilities = schemas.read_new(scope.body())
        host = self._services.resources.create(
            ResourceDraft(resource_type=HOST, name=name, capabilities=capabilities)
        )
        resp.status = HTTPStatus.CREATED
        return {'host': view.host(host, scope.version)}

    @pecan.expose('json')
    def show(self, req: Any, resp: Any, host_id: str) -> dict[str, Any]:
        """Answer with one host."""
        scope = self._scope(req)
        scope.authorize(policies.SHOW)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        host = self._services.resources.get(base.host_id(host_id), scope.sees_private, HOST)
        return {'host': view.host(host, scope.version)}

    @pecan.expose('json')
    def update(self, req: Any, resp: Any, host_id: str) -> dict[str, Any]:
        """Set and remove capabilities."""
        scope = self._scope(req)
        scope.authorize(policies.UPDATE)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        change = schemas.read_change(scope.body())
        host = self._services.resources.update(
            base.host_id(host_id), ResourceChange(capabilities=change), HOST
        )
        return {'host': view.host(host, scope.version)}

    @pecan.expose('json')
    def delete(self, req: Any, resp: Any, host_id: str) -> Any:
        """Let a host go."""
        scope = self._scope(req)
        scope.authorize(policies.DELETE)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        self._services.resources.delete(base.host_id(host_id), HOST)
        return base.empty(resp)
