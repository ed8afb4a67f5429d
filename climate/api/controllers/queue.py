# SPDX-License-Identifier: Apache-2.0

"""``/queue``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from climate.api.http import queries
from climate.api.http.microversions import V1_8
from climate.api.routing import base
from climate.api.routing.routes import Route
from climate.api.routing.routing import Request
from climate.api.schemas import queue as schemas
from climate.api.views import queue as view
from climate.policies import queue as policies


class QueueController(base.Controller):
    """``/queue``."""

    noun = 'queue'
    since = V1_8

    def routes(self) -> Iterable[Route]:
        """Return the routes."""
        return (
            self._route('GET', '/queue', self.show, policies.SHOW, schemas.PARAMETERS, large=True),
        )

    def show(self, req: Request, resp: Any) -> dict[str, Any]:
        """Show a page of the flexible leases that may still move or wait."""
        scope = req.scope
        query = schemas.read(scope.parameters, scope.project_id, self._settings.max_limit)
        found = self._services.leases.queue(scope.caller.budget, query)
        shown = found[: query.limit]
        page: dict[str, Any] = {'queue': [view.queued(one, scope.version) for one in shown]}
        if len(found) > query.limit:
            href = queries.next_page(req.path_url, scope.parameters, shown[-1].id)
            page['queue_links'] = [{'rel': 'next', 'href': href}]
        return page
