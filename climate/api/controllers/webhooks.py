# SPDX-License-Identifier: Apache-2.0

"""``/webhooks``."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from climate.api.http import bodies
from climate.api.http.microversions import V1_5
from climate.api.routing import base
from climate.api.routing.routes import Route
from climate.api.routing.routing import Request
from climate.api.routing.routing import Scope
from climate.api.schemas import webhooks as schemas
from climate.api.views import webhooks as view
from climate.domain.requests import Reach
from climate.policies import webhooks as policies


class WebhooksController(base.Controller):
    """``/webhooks``."""

    noun = 'webhooks'
    since = V1_5

    def routes(self) -> Iterable[Route]:
        """Return the routes."""
        route, item = self._route, '/webhooks/{webhook_id}'
        of_deliveries = policies.DELIVERIES, schemas.DELIVERIES
        return (
            route('GET', '/webhooks', self.index, policies.LIST, schemas.PAGE),
            route('POST', '/webhooks', self.create, policies.CREATE, secret=True),
            route('GET', item, self.show, policies.SHOW),
            route('PUT', item, self.update, policies.UPDATE),
            route('DELETE', item, self.delete, policies.DELETE),
            route('GET', f'{item}/deliveries', self.deliveries, *of_deliveries),
            route('POST', f'{item}/redeliver', self.redeliver, policies.REDELIVER),
            route('POST', f'{item}/test', self.test, policies.TEST),
        )

    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """List webhooks, a page at a time."""
        page = functools.partial(self._services.webhooks.page, _reach(req.scope))
        return self._page(req, 'webhooks', page, view.webhook)

    def create(self, req: Request, resp: Any) -> dict[str, Any]:
        """Create a webhook; only this response has its secret."""
        scope = req.scope
        draft = schemas.read_new(bodies.read(req.environ), scope.object_id)
        if draft.all_projects:
            scope.authorize(policies.EVERYWHERE)
        made = self._services.webhooks.create(scope.caller, draft)
        resp.status = HTTPStatus.CREATED
        return {'webhook': view.webhook(made, scope.version, secret=True)}

    def show(self, req: Request, resp: Any, webhook_id: str) -> dict[str, Any]:
        """Show a webhook, without its secret."""
        webhook = self._services.webhooks.get(webhook_id, _reach(req.scope))
        return {'webhook': view.webhook(webhook, req.scope.version)}

    def update(self, req: Request, resp: Any, webhook_id: str) -> dict[str, Any]:
        """Change a webhook, or give it a new secret."""
        scope = req.scope
        change = schemas.read_change(bodies.read(req.environ))
        webhook = self._services.webhooks.update(scope.caller, webhook_id, _reach(scope), change)
        return {'webhook': view.webhook(webhook, scope.version, secret=change.rotates)}

    def delete(self, req: Request, resp: Any, webhook_id: str) -> None:
        """Delete a webhook."""
        self._services.webhooks.delete(webhook_id, _reach(req.scope))
        resp.status = HTTPStatus.NO_CONTENT

    def deliveries(self, req: Request, resp: Any, webhook_id: str) -> dict[str, Any]:
        """List deliveries to a webhook, newest first."""
        state = schemas.read_state(req.scope.parameters)
        page = functools.partial(
            self._services.webhooks.deliveries, webhook_id, _reach(req.scope), state
        )
        return self._page(req, 'deliveries', page, view.delivery)

    def redeliver(self, req: Request, resp: Any, webhook_id: str) -> dict[str, Any]:
        """Send dead letters again."""
        ids = schemas.read_redelivery(bodies.read(req.environ))
        number = self._services.webhooks.redeliver(webhook_id, _reach(req.scope), ids)
        resp.status = HTTPStatus.ACCEPTED
        return {'redelivered': number}

    def test(self, req: Request, resp: Any, webhook_id: str) -> dict[str, Any]:
        """Send a test event."""
        delivery_id = self._services.webhooks.test(webhook_id, _reach(req.scope))
        resp.status = HTTPStatus.ACCEPTED
        return {'delivery_id': delivery_id}


def _reach(scope: Scope) -> Reach:
    """Return the webhooks: those for all projects need the right to create one."""
    return Reach(project_id=scope.project_id, privileged=scope.allows(policies.EVERYWHERE))
