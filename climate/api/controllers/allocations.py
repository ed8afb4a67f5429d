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

"""``allocations``: the periods in which resources are reserved."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from typing import Final

import pecan

from climate.api import queries
from climate.api import streams
from climate.api.controllers import base
from climate.api.microversions import Microversion
from climate.api.microversions import V1_2
from climate.api.routing import Request
from climate.api.routing import Scope
from climate.api.services import ApiSettings
from climate.api.services import Services
from climate.api.views import allocations as view
from climate.domain.requests import CalendarQuery
from climate.domain.requests import ResourceCalendar
from climate.policies import allocations as policies

_FILTERS: Final = ('lease_id', 'reservation_id')


class AllocationsController(base.Controller):
    """``/os-hosts/allocations``."""

    noun = 'allocations'

    def __init__(self, services: Services, settings: ApiSettings, resource_type: str) -> None:
        super().__init__(services, settings)
        self._resource_type = resource_type

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.LIST, _FILTERS, large=True)
    def index(self, req: Request, resp: Any) -> Any:
        """List every host, reserved or not."""
        query = _query(req.scope, self._resource_type)
        return _listed(self._services, req, resp, query, view.allocation)


class AllocationController(base.Item):
    """``/os-hosts/{host_id}/allocation``."""

    noun = 'allocations'

    def __init__(
        self,
        services: Services,
        settings: ApiSettings,
        key: str,
        resource_type: str,
        item_id: str,
    ) -> None:
        super().__init__(services, settings, key)
        self._resource_type = resource_type
        self._item_id = item_id

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.SHOW, _FILTERS)
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """Show one host."""
        scope = req.scope
        resource_id = base.resource_id(self._item_id, self._key)
        query = _query(scope, self._resource_type)
        calendar = self._services.resources.calendar(scope.caller, resource_id, query)
        return {'allocation': view.allocation(calendar, scope.version)}


class AllocationsOfAnyController(base.Controller):
    """``/resources/allocations``."""

    noun = 'allocations'
    since = V1_2

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.LIST, (*_FILTERS, 'type'), large=True)
    def index(self, req: Request, resp: Any) -> Any:
        """List every resource of a type, or of all types, reserved or not."""
        query = _query(req.scope, queries.one(req.scope.parameters, 'type'))
        return _listed(self._services, req, resp, query, view.amounts)


class AllocationsOfOneController(base.Item):
    """``/resources/{resource_id}/allocations``."""

    noun = 'allocations'
    since = V1_2

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.SHOW, _FILTERS)
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """Show one resource of any type."""
        scope = req.scope
        resource_id = base.resource_id('resource_id', self._key)
        calendar = self._services.resources.calendar(scope.caller, resource_id, _query(scope, None))
        return {'allocation': view.amounts(calendar, scope.version)}


def _query(scope: Scope, resource_type: str | None) -> CalendarQuery:
    return CalendarQuery(
        resource_type=resource_type,
        lease_id=queries.one(scope.parameters, 'lease_id'),
        reservation_id=queries.one(scope.parameters, 'reservation_id'),
    )


def _listed(
    services: Services,
    req: Request,
    resp: Any,
    query: CalendarQuery,
    show: Callable[[ResourceCalendar, Microversion], dict[str, Any]],
) -> Any:
    scope = req.scope
    batches = services.resources.calendars(scope.caller, query)
    shown = (json.dumps([show(one, scope.version) for one in batch]) for batch in batches)
    return streams.listed(req, resp, 'allocations', shown)
