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


"""``/usage``."""

from __future__ import annotations

from typing import Any

import pecan

from climate.api.controllers import base
from climate.api.microversions import V1_5
from climate.api.routing import Request
from climate.api.schemas import usage as schemas
from climate.api.views import usage as view
from climate.policies import usage as policies


class UsageController(base.Controller):
    """``/usage``."""

    noun = 'usage'
    since = V1_5

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.SHOW, schemas.PARAMETERS)
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """Show how much leases booked and used in a period."""
        scope = req.scope
        query = schemas.read(scope.parameters, scope.version, scope.now)
        rows = self._services.leases.usage(query)
        return {'usage': view.report(query, rows, scope.version)}
