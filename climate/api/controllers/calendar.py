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

"""``/calendar``."""

from __future__ import annotations

import json
from typing import Any

import pecan

from climate.api import conditions
from climate.api.controllers import base
from climate.api.microversions import V1_5
from climate.api.routing import Request
from climate.api.schemas import calendar as schemas
from climate.api.streams import JsonText
from climate.api.views import calendar as view
from climate.policies import calendar as policies
from climate.policies import maintenances


class CalendarController(base.Controller):
    """``/calendar``."""

    noun = 'calendar'
    since = V1_5

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.SHOW, schemas.PARAMETERS, large=True)
    def index(self, req: Request, resp: Any) -> Any:
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

        found = self._services.calendar.page(query, known, scope.caller.budget)
        if isinstance(found, str):
            return conditions.unchanged(resp, f'"{found}"')
        shown = view.page(query, found, shows_closure_ids=scope.allows(maintenances.LIST))
        resp.headers['ETag'] = f'"{found.tag}"'
        return JsonText(json.dumps({'calendar': shown}, separators=(',', ':')))
