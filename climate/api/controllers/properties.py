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

"""Names of properties."""

from __future__ import annotations

from typing import Any

import pecan

from climate.api import queries
from climate.api.controllers import base
from climate.api.schemas import properties as schemas
from climate.api.scope import Scope
from climate.api.views import properties as view
from climate.leasing.registrar import HOST
from climate.policies import properties as policies


class PropertiesController(base.Controller):
    """What can be done with properties over HTTP."""

    @pecan.expose('json')
    def index(self, req: Any, resp: Any) -> dict[str, Any]:
        """Answer with the names, and with ``detail`` their values.

        Private ones appear only with ``all``, and only to those who may see
        them; to others ``all`` means nothing.
        """
        scope = self._scope(req)
        scope.authorize(policies.LIST)
        queries.refuse_unknown(scope.parameters, ('detail', 'all'), scope.version)
        return self._names(scope, HOST)

    @pecan.expose('json')
    def update(self, req: Any, resp: Any, property_name: str) -> dict[str, Any]:
        """Make a property private or public."""
        scope = self._scope(req)
        scope.authorize(policies.UPDATE)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        return self._set_private(scope, HOST, property_name)

    @pecan.expose('json')
    def index_any(self, req: Any, resp: Any) -> dict[str, Any]:
        """Answer as :meth:`index` does, for the type that is asked for."""
        scope = self._scope(req)
        scope.authorize(policies.LIST)
        queries.refuse_unknown(scope.parameters, ('detail', 'all', 'type'), scope.version)
        return self._names(scope, queries.required(scope.parameters, 'type'))

    @pecan.expose('json')
    def update_any(self, req: Any, resp: Any, property_name: str) -> dict[str, Any]:
        """Make a property of the type that is asked for private or public."""
        scope = self._scope(req)
        scope.authorize(policies.UPDATE)
        queries.refuse_unknown(scope.parameters, ('type',), scope.version)
        wanted = queries.required(scope.parameters, 'type')
        return self._set_private(scope, wanted, property_name)

    def _names(self, scope: Scope, resource_type: str) -> dict[str, Any]:
        detail = queries.flag(scope.parameters, 'detail')
        private = queries.flag(scope.parameters, 'all') and scope.sees_private
        keys = self._services.resources.property_keys(resource_type, private)
        show = view.detail if detail else view.name
        return {'resource_properties': [show(key) for key in keys]}

    def _set_private(self, scope: Scope, resource_type: str, name: str) -> dict[str, Any]:
        private = schemas.read_private(scope.version, scope.body())
        key = self._services.resources.set_private(resource_type, name, private)
        return {'resource_property': view.record(key, scope.version)}
