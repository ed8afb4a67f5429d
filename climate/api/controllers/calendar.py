# SPDX-License-Identifier: Apache-2.0

"""``/calendar``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from climate.api.http import conditions
from climate.api.http.microversions import V1_5
from climate.api.http.streams import JsonText
from climate.api.routing import base
from climate.api.routing.routes import Route
from climate.api.routing.routing import Request
from climate.api.schemas import calendar as schemas
from climate.api.views import calendar as view
from climate.policies import calendar as policies
from climate.policies import maintenances


class CalendarController(base.Controller):
    """``/calendar``."""

    noun = 'calendar'
    since = V1_5

    def routes(self) -> Iterable[Route]:
        """Return the routes."""
        return (
            self._route(
                'GET', '/calendar', self.show, policies.SHOW, schemas.PARAMETERS, large=True
            ),
        )

    def show(self, req: Request, resp: Any) -> Any:
        """Show a page of resources, and when they are reserved."""
        scope = req.scope
        query = schemas.read(
            scope.parameters,
            scope.version,
            scope.now,
            scope.caller,
            sees_private=scope.sees_private,
        )
        asked = conditions.read(req.environ, scope.version)

        def known(tag: str) -> bool:
            asked.check_match(f'"{tag}"')
            return asked.knows(f'"{tag}"')

        answer = self._services.calendar.page(query, known, scope.caller.budget)
        if isinstance(answer, str):
            return conditions.unchanged(resp, f'"{answer}"')
        shown = view.page(query, answer, shows_closure_ids=scope.allows(maintenances.LIST))
        resp.headers['ETag'] = f'"{answer.tag}"'
        return JsonText(json.dumps({'calendar': shown}, separators=(',', ':')))
