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

"""``/webhooks``."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pecan

from climate.api import bodies
from climate.api import queries
from climate.api.controllers import base
from climate.api.microversions import V1_5
from climate.api.routing import Request
from climate.api.routing import Scope
from climate.api.schemas import webhooks as schemas
from climate.api.views import webhooks as view
from climate.domain.requests import Reach
from climate.policies import webhooks as policies


class WebhooksController(base.Controller):
    """``/webhooks``."""

    noun = 'webhooks'
    since = V1_5

    @pecan.expose()
    def _lookup(self, webhook_id: str, *rest: str) -> tuple[WebhookController, tuple[str, ...]]:
        return WebhookController(self._services, self._settings, base.key(webhook_id)), rest

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.LIST, schemas.PAGE)
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """List webhooks, a page at a time."""
        scope = req.scope
        marker, limit = queries.paging(scope.parameters, self._settings.max_limit)
        found = self._services.webhooks.page(_reach(scope), marker, limit + 1)
        shown: dict[str, Any] = {
            'webhooks': [view.webhook(one, scope.version) for one in found[:limit]]
        }
        if len(found) > limit:
            href = queries.next_page(req.path_url, scope.parameters, found[limit - 1].id)
            shown['webhooks_links'] = [{'rel': 'next', 'href': href}]
        return shown

    @index.when(method='POST', template='json')
    @base.guard(policies.CREATE, secret=True)
    def create(self, req: Request, resp: Any) -> dict[str, Any]:
        """Create a webhook; only this response has its secret."""
        scope = req.scope
        draft = schemas.read_new(bodies.read(req.environ), scope.object_id)
        if draft.all_projects:
            scope.authorize(policies.EVERYWHERE)
        made = self._services.webhooks.create(scope.caller, draft)
        resp.status = HTTPStatus.CREATED
        return {'webhook': view.webhook(made, scope.version, secret=True)}


class WebhookController(base.Item):
    """``/webhooks/{webhook_id}``."""

    noun = 'webhooks'
    since = V1_5

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.SHOW)
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """Show a webhook, without its secret."""
        found = self._services.webhooks.get(self._id(), _reach(req.scope))
        return {'webhook': view.webhook(found, req.scope.version)}

    @index.when(method='PUT', template='json')
    @base.guard(policies.UPDATE)
    def update(self, req: Request, resp: Any) -> dict[str, Any]:
        """Change a webhook, or give it a new secret."""
        scope = req.scope
        change = schemas.read_change(bodies.read(req.environ))
        found = self._services.webhooks.update(scope.caller, self._id(), _reach(scope), change)
        return {'webhook': view.webhook(found, scope.version, secret=change.rotates)}

    @index.when(method='DELETE', content_type='application/json')
    @base.guard(policies.DELETE)
    def delete(self, req: Request, resp: Any) -> None:
        """Delete a webhook."""
        self._services.webhooks.delete(self._id(), _reach(req.scope))
        resp.status = HTTPStatus.NO_CONTENT

    @pecan.expose(template='json')
    @base.guard(policies.DELIVERIES, schemas.DELIVERIES)
    def deliveries(self, req: Request, resp: Any) -> dict[str, Any]:
        """List deliveries to a webhook, newest first."""
        scope = req.scope
        marker, limit = queries.paging(scope.parameters, self._settings.max_limit)
        found = self._services.webhooks.deliveries(
            self._id(), _reach(scope), schemas.read_state(scope.parameters), marker, limit + 1
        )
        shown: dict[str, Any] = {
            'deliveries': [view.delivery(one, scope.version) for one in found[:limit]]
        }
        if len(found) > limit:
            href = queries.next_page(req.path_url, scope.parameters, found[limit - 1].id)
            shown['deliveries_links'] = [{'rel': 'next', 'href': href}]
        return shown

    @pecan.expose(template='json')
    @base.guard(policies.REDELIVER, method='POST')
    def redeliver(self, req: Request, resp: Any) -> dict[str, Any]:
        """Send dead letters again."""
        ids = schemas.read_redelivery(bodies.read(req.environ))
        number = self._services.webhooks.redeliver(self._id(), _reach(req.scope), ids)
        resp.status = HTTPStatus.ACCEPTED
        return {'redelivered': number}

    @pecan.expose(template='json')
    @base.guard(policies.TEST, method='POST')
    def test(self, req: Request, resp: Any) -> dict[str, Any]:
        """Send a test event."""
        delivery_id = self._services.webhooks.test(self._id(), _reach(req.scope))
        resp.status = HTTPStatus.ACCEPTED
        return {'delivery_id': delivery_id}

    def _id(self) -> str:
        return base.uuid('webhook_id', self._key)


def _reach(scope: Scope) -> Reach:
    """Return the webhooks: those for all projects need the right to create one."""
    return Reach(project_id=scope.project_id, privileged=scope.allows(policies.EVERYWHERE))
