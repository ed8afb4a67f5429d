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

"""Names of host properties."""

from __future__ import annotations

from typing import Any

import pecan

from climate.api import queries
from climate.api.controllers import base
from climate.api.schemas import properties as schemas
from climate.api.views import properties as view
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
        detail = queries.flag(scope.parameters, 'detail')
        private = queries.flag(scope.parameters, 'all') and scope.sees_private
        keys = self._services.hosts.property_keys(private)
        show = view.detail if detail else view.name
        return {'resource_properties': [show(key) for key in keys]}

    @pecan.expose('json')
    def update(self, req: Any, resp: Any, property_name: str) -> dict[str, Any]:
        """Make a property private or public."""
        scope = self._scope(req)
        scope.authorize(policies.UPDATE)
        queries.refuse_unknown(scope.parameters, (), scope.version)
        private = schemas.read_private(scope.version, scope.body())
        key = self._services.hosts.set_private(property_name, private)
        return {'resource_property': view.record(key, scope.version)}
