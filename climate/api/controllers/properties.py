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

"""``properties``: the properties of hosts, and of resources of any type."""

from __future__ import annotations

from typing import Any

import pecan

from climate.api import bodies
from climate.api import queries
from climate.api.controllers import base
from climate.api.microversions import V1_2
from climate.api.microversions import V1_7
from climate.api.routing import Request
from climate.api.routing import Scope
from climate.api.schemas import properties as schemas
from climate.api.services import ApiSettings
from climate.api.services import Services
from climate.api.views import properties as view
from climate.policies import properties as policies


class PropertiesController(base.Controller):
    """``/os-hosts/properties``."""

    noun = 'properties'

    def __init__(self, services: Services, settings: ApiSettings, resource_type: str) -> None:
        super().__init__(services, settings)
        self._resource_type = resource_type

    @pecan.expose()
    def _lookup(self, *property_name: str) -> tuple[PropertyController, tuple[str, ...]]:
        key = base.joined_key(property_name)
        return PropertyController(self._services, self._settings, key, self._resource_type), ()

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.LIST, ('detail', 'all', 'values'))
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """List the names of properties and, with ``detail`` or ``values``, their values.

        ``all`` adds private properties if the caller can see them, and is
        ignored otherwise.
        """
        return _names(self._services, req.scope, self._resource_type)


class PropertyController(base.Item):
    """``/os-hosts/properties/{property_name}``."""

    noun = 'properties'

    def __init__(
        self, services: Services, settings: ApiSettings, key: str, resource_type: str
    ) -> None:
        super().__init__(services, settings, key)
        self._resource_type = resource_type

    @pecan.expose(template='json')
    @base.guard(policies.UPDATE, method='PATCH')
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """Make a property private or public."""
        return _set_private(self._services, req, self._resource_type, self._key)


class PropertiesOfAnyController(base.Controller):
    """``/resources/properties``."""

    noun = 'properties'
    since = V1_2

    @pecan.expose()
    def _lookup(self, *property_name: str) -> tuple[PropertyOfAnyController, tuple[str, ...]]:
        key = base.joined_key(property_name)
        return PropertyOfAnyController(self._services, self._settings, key), ()

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.LIST, ('detail', 'all', 'type', 'values'))
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """List the names of properties of a type; their values with ``detail`` or ``values``."""
        resource_type = queries.required(req.scope.parameters, 'type')
        return _names(self._services, req.scope, resource_type)


class PropertyOfAnyController(base.Item):
    """``/resources/properties/{property_name}``."""

    noun = 'properties'
    since = V1_2

    @pecan.expose(template='json')
    @base.guard(policies.UPDATE, ('type',), method='PATCH')
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """Make a property of the type in ``type`` private or public."""
        resource_type = queries.required(req.scope.parameters, 'type')
        return _set_private(self._services, req, resource_type, self._key)


def _names(services: Services, scope: Scope, resource_type: str) -> dict[str, Any]:
    detail = queries.flag(scope.parameters, 'detail')
    private = queries.flag(scope.parameters, 'all') and scope.sees_private
    if scope.version >= V1_7 and queries.flag(scope.parameters, 'values'):
        return view.choices(services.resources.choices(resource_type, scope.caller, private))
    keys = services.resources.property_keys(resource_type, private)
    show = view.detail if detail else view.name
    return {'resource_properties': [show(key) for key in keys]}


def _set_private(services: Services, req: Request, resource_type: str, name: str) -> dict[str, Any]:
    private = schemas.read_private(req.scope.version, bodies.read(req.environ))
    key = services.resources.set_private(resource_type, name, private)
    return {'resource_property': view.record(key, req.scope.version)}
