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

"""When resources are taken."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from typing import Any

import pecan

from climate.api import queries
from climate.api import streams
from climate.api.controllers import base
from climate.api.microversions import Microversion
from climate.api.scope import Scope
from climate.api.views import allocations as view
from climate.domain.requests import CalendarQuery
from climate.domain.requests import ResourceCalendar
from climate.leasing.registrar import HOST
from climate.policies import allocations as policies

_FILTERS = ('lease_id', 'reservation_id')


class AllocationsController(base.Controller):
    """What can be asked about allocations over HTTP."""

    @pecan.expose('json')
    def index(self, req: Any, resp: Any) -> Any:
        """Answer with every host, be it taken or not."""
        scope = self._scope(req)
        scope.authorize(policies.LIST)
        return self._listed(req, resp, scope, _wanted(scope), view.allocation)

    @pecan.expose('json')
    def show(self, req: Any, resp: Any, host_id: str) -> dict[str, Any]:
        """Answer with one host."""
        scope = self._scope(req)
        scope.authorize(policies.SHOW)
        wanted = _wanted(scope)
        calendar = self._services.resources.calendar(scope.caller, base.host_id(host_id), wanted)
        return {'allocation': view.allocation(calendar, scope.version)}

    @pecan.expose('json')
    def index_any(self, req: Any, resp: Any) -> Any:
        """Answer with every resource of a type, or of all, be it taken or not."""
        scope = self._scope(req)
        scope.authorize(policies.LIST)
        wanted = _wanted(scope, queries.one(scope.parameters, 'type'), (*_FILTERS, 'type'))
        return self._listed(req, resp, scope, wanted, view.amounts)

    @pecan.expose('json')
    def show_any(self, req: Any, resp: Any, resource_id: str) -> dict[str, Any]:
        """Answer with one resource of any type."""
        scope = self._scope(req)
        scope.authorize(policies.SHOW)
        number = base.resource_id(resource_id)
        wanted = _wanted(scope, resource_type=None)
        calendar = self._services.resources.calendar(scope.caller, number, wanted)
        return {'allocation': view.amounts(calendar, scope.version)}

    def _listed(
        self,
        req: Any,
        resp: Any,
        scope: Scope,
        wanted: CalendarQuery,
        show: Callable[[ResourceCalendar, Microversion], dict[str, Any]],
    ) -> Any:
        batches = self._services.resources.calendars(scope.caller, wanted)
        shown = ([show(one, scope.version) for one in batch] for batch in batches)
        return streams.listed(req, resp, 'allocations', shown)


def _wanted(
    scope: Scope, resource_type: str | None = HOST, known: Collection[str] = _FILTERS
) -> CalendarQuery:
    queries.refuse_unknown(scope.parameters, known, scope.version)
    return CalendarQuery(
        resource_type=resource_type,
        lease_id=queries.one(scope.parameters, 'lease_id'),
        reservation_id=queries.one(scope.parameters, 'reservation_id'),
    )
