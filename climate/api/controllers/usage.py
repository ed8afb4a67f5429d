# SPDX-License-Identifier: Apache-2.0

"""``/usage``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from climate.api.http.microversions import V1_5
from climate.api.routing import base
from climate.api.routing.routes import Route
from climate.api.routing.routing import Request
from climate.api.schemas import usage as schemas
from climate.api.views import usage as view
from climate.policies import usage as policies


class UsageController(base.Controller):
    """``/usage``."""

    noun = 'usage'
    since = V1_5

    def routes(self) -> Iterable[Route]:
        """Return the routes."""
        return (self._route('GET', '/usage', self.show, policies.SHOW, schemas.PARAMETERS),)

    def show(self, req: Request, resp: Any) -> dict[str, Any]:
        """Show how much leases booked and used in a period."""
        scope = req.scope
        query = schemas.read(scope.parameters, scope.version, scope.now)
        rows = self._services.leases.usage(query)
        return {'usage': view.report(query, rows, scope.version)}
