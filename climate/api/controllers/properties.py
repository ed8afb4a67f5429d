# SPDX-License-Identifier: Apache-2.0

"""``properties``: the properties of hosts, and of resources of any type."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from typing import Final

from climate.api.http import bodies
from climate.api.http import queries
from climate.api.http.microversions import V1_2
from climate.api.http.microversions import V1_7
from climate.api.routing import base
from climate.api.routing.routes import Route
from climate.api.routing.routing import Request
from climate.api.routing.routing import Scope
from climate.api.routing.services import Services
from climate.api.schemas import properties as schemas
from climate.api.views import properties as view
from climate.policies import properties as policies

_PARAMETERS: Final = ('detail', 'all', 'values')


class PropertiesController(base.Controller):
    """``/resources/properties``."""

    noun = 'properties'
    since = V1_2

    def routes(self) -> Iterable[Route]:
        """Return the routes."""
        path, names = '/resources/properties', (*_PARAMETERS, 'type')
        item = f'{path}/{{property_name}}'
        return (
            self._route('GET', path, self.index, policies.LIST, names),
            self._route('PATCH', item, self.update, policies.UPDATE, ('type',)),
        )

    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """List the names of properties of a type; their values with ``detail`` or ``values``."""
        resource_type = queries.required(req.scope.parameters, 'type')
        return _names(self._services, req.scope, resource_type)

    def update(self, req: Request, resp: Any, property_name: str) -> dict[str, Any]:
        """Make a property of the type in ``type`` private or public."""
        resource_type = queries.required(req.scope.parameters, 'type')
        return _set_private(self._services, req, resource_type, property_name)


class CollectionPropertiesController(base.CollectionPart):
    """``/os-hosts/properties``, and those of other collections."""

    noun = 'properties'

    def routes(self) -> Iterable[Route]:
        """Return the routes."""
        path = f'/{self._collection.path}/properties'
        item = f'{path}/{{property_name}}'
        return (
            self._route('GET', path, self.index, policies.LIST, _PARAMETERS),
            self._route('PATCH', item, self.update, policies.UPDATE),
        )

    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """List the names of properties and, with ``detail`` or ``values``, their values.

        ``all`` adds private properties if the caller can see them, and is
        ignored otherwise.
        """
        return _names(self._services, req.scope, self._collection.resource_type)

    def update(self, req: Request, resp: Any, property_name: str) -> dict[str, Any]:
        """Make a property private or public."""
        return _set_private(self._services, req, self._collection.resource_type, property_name)


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
