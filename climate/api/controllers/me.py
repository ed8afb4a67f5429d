# SPDX-License-Identifier: Apache-2.0

"""``/me``: the caller."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from typing import Final

from climate import policies
from climate.api.http import environ_keys
from climate.api.http.microversions import V1_5
from climate.api.routing import base
from climate.api.routing.routes import Route
from climate.api.routing.routing import Request
from climate.api.views import me as view
from climate.policies import me as own_policies

_PREFIX: Final = 'climate:'
_RULES: Final = sorted(rule.name for rule in policies.list_rules() if rule.name.startswith(_PREFIX))


class MeController(base.Controller):
    """``/me``."""

    noun = 'me'
    since = V1_5

    def routes(self) -> Iterable[Route]:
        """Return the routes."""
        return (self._route('GET', '/me', self.show, own_policies.SHOW),)

    def show(self, req: Request, resp: Any) -> dict[str, Any]:
        """Show who calls, and what they may do."""
        scope = req.scope
        may = {name.removeprefix(_PREFIX): scope.allows(name) for name in _RULES}
        resp.cache_control = 'no-store'
        context = req.environ[environ_keys.CONTEXT]
        shown = view.caller(scope.caller, context, req.environ, may, scope.now, scope.version)
        return {'me': shown}
