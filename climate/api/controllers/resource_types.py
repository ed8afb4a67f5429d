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

"""Resource types."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pecan

from climate.api import queries
from climate.api.controllers import base
from climate.api.schemas import resource_types as schemas
from climate.api.views import resource_types as view
from climate.policies import resource_types as policies


class ResourceTypesController(base.Controller):
    """What can be done with resource types over HTTP."""

    @pecan.expose('json')
    def index(self, req: Any, resp: Any) -> dict[str, Any]:
        """Answer with every type that is served."""
        scope = self._scope(req)
        scope.authorize(policies.LIST)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        found = self._services.resource_types.list()
        return {'resource_types': [view.resource_type(one, scope.version) for one in found]}

    @pecan.expose('json')
    def create(self, req: Any, resp: Any) -> dict[str, Any]:
        """Declare a type."""
        scope = self._scope(req)
        scope.authorize(policies.CREATE)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        made = self._services.resource_types.create(schemas.read_new(scope.body()))
        resp.status = HTTPStatus.CREATED
        return {'resource_type': view.resource_type(made, scope.version)}

    @pecan.expose('json')
    def show(self, req: Any, resp: Any, type_name: str) -> dict[str, Any]:
        """Answer with one type."""
        scope = self._scope(req)
        scope.authorize(policies.SHOW)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        found = self._services.resource_types.get(type_name)
        return {'resource_type': view.resource_type(found, scope.version)}

    @pecan.expose('json')
    def update(self, req: Any, resp: Any, type_name: str) -> dict[str, Any]:
        """Change a declared type."""
        scope = self._scope(req)
        scope.authorize(policies.UPDATE)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        body = scope.body()
        schemas.check_change(body)
        made = self._services.resource_types.update(
            type_name, lambda old: schemas.changed(old, body)
        )
        return {'resource_type': view.resource_type(made, scope.version)}

    @pecan.expose('json')
    def delete(self, req: Any, resp: Any, type_name: str) -> Any:
        """Forget a declared type."""
        scope = self._scope(req)
        scope.authorize(policies.DELETE)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        self._services.resource_types.delete(type_name)
        return base.empty(resp)
