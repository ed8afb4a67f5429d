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

"""``/me``: the caller."""

from __future__ import annotations

from typing import Any
from typing import Final

import pecan

from climate import policies
from climate.api import auth
from climate.api.controllers import base
from climate.api.microversions import V1_5
from climate.api.routing import Request
from climate.api.views import me as view
from climate.policies import me as own_policies

_PREFIX: Final = 'climate:'
_RULES: Final = sorted(rule.name for rule in policies.list_rules() if rule.name.startswith(_PREFIX))


class MeController(base.Controller):
    """``/me``."""

    noun = 'me'
    since = V1_5

    @pecan.expose(generic=True, template='json')
    @base.guard(own_policies.SHOW)
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """Show who calls, and what they may do."""
        scope = req.scope
        may = {name.removeprefix(_PREFIX): scope.allows(name) for name in _RULES}
        resp.cache_control = 'no-store'
        return {'me': view.caller(scope, req.environ[auth.CONTEXT], req.environ, may)}
