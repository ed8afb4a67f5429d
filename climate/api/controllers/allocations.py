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

from collections.abc import Collection
from typing import Any

import pecan

from climate import exceptions
from climate.api import queries
from climate.api.controllers import base
from climate.api.scope import Scope
from climate.api.views import allocations as view
from climate.domain.requests import ResourceCalendar
from climate.leasing.registrar import HOST
from climate.policies import allocations as policies

_FILTERS = ('lease_id', 'reservation_id')


class AllocationsController(base.Controller):
    """What can be asked about allocations over HTTP."""

    @pecan.expose('json')
    def index(self, req: Any, resp: Any) -> dict[str, Any]:
        """Answer with every host, be it taken or not."""
        scope = self._scope(req)
        scope.authorize(policies.LIST)
        calendar = self._calendar(scope)
        return {'allocations': [view.allocation(one, scope.version) for one in calendar]}

    @pecan.expose('json')
    def show(self, req: Any, resp: Any, host_id: str) -> dict[str, Any]:
        """Answer with one host."""
        scope = self._scope(req)
        scope.authorize(policies.SHOW)
        calendar = self._calendar(scope, base.host_id(host_id))
        if not calendar:
            raise exceptions.NotFound(object={'host_id': host_id})
        return {'allocation': view.allocation(calendar[0], scope.version)}

    @pecan.expose('json')
    def index_any(self, req: Any, resp: Any) -> dict[str, Any]:
        """Answer with every resource of a type, or of all, be it taken or not."""
        scope = self._scope(req)
        scope.authorize(policies.LIST)
        wanted = queries.one(scope.parameters, 'type')
        calendar = self._calendar(scope, resource_type=wanted, known=(*_FILTERS, 'type'))
        return {'allocations': [view.amounts(one, scope.version) for one in calendar]}

    @pecan.expose('json')
    def show_any(self, req: Any, resp: Any, resource_id: str) -> dict[str, Any]:
        """Answer with one resource of any type."""
        scope = self._scope(req)
        scope.authorize(policies.SHOW)
        number = base.resource_id(resource_id)
        (calendar,) = self._calendar(scope, number, resource_type=None)
        return {'allocation': view.amounts(calendar, scope.version)}

    def _calendar(
        self,
        scope: Scope,
        resource_id: int | None = None,
        resource_type: str | None = HOST,
        known: Collection[str] = _FILTERS,
    ) -> list[ResourceCalendar]:
        queries.refuse_unknown(scope.parameters, known, scope.version)
        found = self._services.resources.calendar(
            scope.caller,
            resource_type,
            resource_id=resource_id,
            lease_id=queries.one(scope.parameters, 'lease_id'),
            reservation_id=queries.one(scope.parameters, 'reservation_id'),
        )
        return sorted(found, key=lambda one: one.resource_id)
