# SPDX-License-Identifier: Apache-2.0

"""``allocations``: the periods in which resources are reserved."""

from __future__ import annotations

import json
from collections.abc import Callable
from collections.abc import Iterable
from typing import Any
from typing import Final

from climate.api.http import queries
from climate.api.http import streams
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_2
from climate.api.routing import base
from climate.api.routing.routes import Route
from climate.api.routing.routing import Request
from climate.api.routing.routing import Scope
from climate.api.routing.services import Services
from climate.api.views import allocations as view
from climate.domain.requests import CalendarQuery
from climate.domain.requests import ResourceCalendar
from climate.policies import allocations as policies

_FILTERS: Final = ('lease_id', 'reservation_id')


class AllocationsController(base.Controller):
    """``/resources/allocations``, and ``allocations`` of one resource."""

    noun = 'allocations'
    since = V1_2

    def routes(self) -> Iterable[Route]:
        """Return the routes."""
        listed, shown = '/resources/allocations', '/resources/{resource_id}/allocations'
        names = (*_FILTERS, 'type')
        return (
            self._route('GET', listed, self.index, policies.LIST, names, large=True),
            self._route('GET', shown, self.show, policies.SHOW, _FILTERS),
        )

    def index(self, req: Request, resp: Any) -> Any:
        """List every resource of a type, or of all types, reserved or not."""
        query = _query(req.scope, queries.one(req.scope.parameters, 'type'))
        return _listed(self._services, req, resp, query, view.amounts)

    def show(self, req: Request, resp: Any, resource_id: int) -> dict[str, Any]:
        """Show one resource of any type."""
        scope = req.scope
        calendar = self._services.resources.calendar(scope.caller, resource_id, _query(scope, None))
        return {'allocation': view.amounts(calendar, scope.version)}


class CollectionAllocationsController(base.CollectionPart):
    """``/os-hosts/allocations``, and ``allocation`` of one host; likewise other collections."""

    noun = 'allocations'

    def routes(self) -> Iterable[Route]:
        """Return the routes."""
        path, item_id = self._collection.path, self._collection.item_id
        listed, shown = f'/{path}/allocations', f'/{path}/{{{item_id}}}/allocation'
        return (
            self._route('GET', listed, self.index, policies.LIST, _FILTERS, large=True),
            self._route('GET', shown, self.show, policies.SHOW, _FILTERS),
        )

    def index(self, req: Request, resp: Any) -> Any:
        """List every host, reserved or not."""
        query = _query(req.scope, self._collection.resource_type)
        return _listed(self._services, req, resp, query, view.allocation)

    def show(self, req: Request, resp: Any, resource_id: int) -> dict[str, Any]:
        """Show one host."""
        scope = req.scope
        query = _query(scope, self._collection.resource_type)
        calendar = self._services.resources.calendar(scope.caller, resource_id, query)
        return {'allocation': view.allocation(calendar, scope.version)}


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
