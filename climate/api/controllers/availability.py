# SPDX-License-Identifier: Apache-2.0

"""``/availability``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from climate.api.http import conditions
from climate.api.http.microversions import V1_4
from climate.api.routing import base
from climate.api.routing.routes import Route
from climate.api.routing.routing import Request
from climate.api.schemas import availability as schemas
from climate.api.views import availability as view
from climate.policies import availability as policies


class AvailabilityController(base.Controller):
    """``/availability``."""

    noun = 'availability'
    since = V1_4

    def routes(self) -> Iterable[Route]:
        """Return the routes."""
        return (
            self._route(
                'GET', '/availability', self.show, policies.SHOW, schemas.PARAMETERS, large=True
            ),
        )

    def show(self, req: Request, resp: Any) -> Any:
        """Show what is free of a resource type over time.

        The ETag depends on the answer only, so that it stays the same until something
        changes that a client would see.
        """
        scope = req.scope
        query = schemas.read(
            scope.parameters,
            scope.version,
            scope.now,
            sees_private=scope.sees_private,
            compares_private=scope.caller.all_projects,
        )
        groups = self._services.leases.availability(scope.caller.budget, query)
        shown = {'availability': view.availability(query, groups, scope.version)}
        return conditions.answer(req, resp, shown)
