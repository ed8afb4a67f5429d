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

"""``/availability``."""

from __future__ import annotations

from typing import Any

import pecan

from climate.api import conditions
from climate.api.controllers import base
from climate.api.microversions import V1_4
from climate.api.routing import Request
from climate.api.schemas import availability as schemas
from climate.api.views import availability as view
from climate.policies import availability as policies


class AvailabilityController(base.Controller):
    """``/availability``."""

    noun = 'availability'
    since = V1_4

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.SHOW, schemas.PARAMETERS, large=True)
    def index(self, req: Request, resp: Any) -> Any:
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
