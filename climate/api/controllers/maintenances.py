# SPDX-License-Identifier: Apache-2.0

"""``/maintenances``."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from climate.api.http import bodies
from climate.api.http.microversions import V1_2
from climate.api.http.microversions import V1_5
from climate.api.routing import base
from climate.api.routing.routes import Route
from climate.api.routing.routing import Request
from climate.api.schemas import maintenances as schemas
from climate.api.views import maintenances as view
from climate.policies import maintenances as policies


class MaintenancesController(base.Controller):
    """``/maintenances``."""

    noun = 'maintenances'
    since = V1_2

    def routes(self) -> Iterable[Route]:
        """Return the routes."""
        return (
            self._route('GET', '/maintenances', self.index, policies.LIST, large=True),
            self._route('POST', '/maintenances', self.create, policies.CREATE),
            self._route('GET', '/maintenances/{maintenance_id}', self.show, policies.SHOW),
            self._route(
                'PUT', '/maintenances/{maintenance_id}', self.update, policies.UPDATE, since=V1_5
            ),
            self._route('DELETE', '/maintenances/{maintenance_id}', self.delete, policies.DELETE),
        )

    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """List the maintenances that have not ended."""
        planned = self._services.maintenances.list()
        return {'maintenances': [view.maintenance(one, req.scope.version) for one in planned]}

    def create(self, req: Request, resp: Any) -> dict[str, Any]:
        """Announce a maintenance."""
        scope = req.scope
        draft = schemas.read_new(
            bodies.read(req.environ), scope.now, scope.version, scope.object_id
        )
        made = self._services.maintenances.create(scope.caller, draft)
        resp.status = HTTPStatus.CREATED
        return {'maintenance': view.maintenance(made, scope.version)}

    def show(self, req: Request, resp: Any, maintenance_id: str) -> dict[str, Any]:
        """Show a maintenance."""
        maintenance = self._services.maintenances.get(maintenance_id)
        return {'maintenance': view.maintenance(maintenance, req.scope.version)}

    def update(self, req: Request, resp: Any, maintenance_id: str) -> dict[str, Any]:
        """Change the period or the reason of a maintenance."""
        scope = req.scope
        change = schemas.read_change(bodies.read(req.environ), scope.now, scope.version)
        maintenance = self._services.maintenances.update(maintenance_id, change)
        return {'maintenance': view.maintenance(maintenance, scope.version)}

    def delete(self, req: Request, resp: Any, maintenance_id: str) -> None:
        """Cancel a maintenance."""
        self._services.maintenances.delete(maintenance_id)
        resp.status = HTTPStatus.NO_CONTENT
