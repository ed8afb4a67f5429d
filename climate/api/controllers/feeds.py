# SPDX-License-Identifier: Apache-2.0

"""``/feeds``."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from climate.api.http import bodies
from climate.api.http.microversions import V1_5
from climate.api.middleware.feed_links import SUFFIX
from climate.api.routing import base
from climate.api.routing.routes import Route
from climate.api.routing.routing import Request
from climate.api.routing.routing import Scope
from climate.api.schemas import feeds as schemas
from climate.api.schemas import webhooks as lists
from climate.api.views import feeds as view
from climate.domain.requests import Reach
from climate.policies import feeds as policies


class FeedsController(base.Controller):
    """``/feeds``."""

    noun = 'feeds'
    since = V1_5

    def routes(self) -> Iterable[Route]:
        """Return the routes."""
        return (
            self._route('GET', '/feeds', self.index, policies.LIST, lists.PAGE),
            self._route('POST', '/feeds', self.create, policies.CREATE, secret=True),
            self._route('GET', '/feeds/{feed_id}', self.show, policies.SHOW),
            self._route('DELETE', '/feeds/{feed_id}', self.delete, policies.DELETE),
        )

    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """List calendar feeds, a page at a time."""
        page = functools.partial(self._services.feeds.page, _reach(req.scope))
        return self._page(req, 'feeds', page, view.feed)

    def create(self, req: Request, resp: Any) -> dict[str, Any]:
        """Create a calendar feed; only this response has its link."""
        scope = req.scope
        draft = schemas.read_new(bodies.read(req.environ), scope.object_id)
        if draft.resource_id is not None:
            scope.authorize(policies.RESOURCE)
        made, secret = self._services.feeds.create(scope.caller, draft)
        resp.status = HTTPStatus.CREATED
        url = f'{req.application_url}/v1/feeds/{secret}{SUFFIX}'
        return {'feed': view.feed(made, scope.version, url)}

    def show(self, req: Request, resp: Any, feed_id: str) -> dict[str, Any]:
        """Show a calendar feed, without its link."""
        subscription = self._services.feeds.get(feed_id, _reach(req.scope))
        return {'feed': view.feed(subscription, req.scope.version)}

    def delete(self, req: Request, resp: Any, feed_id: str) -> None:
        """Revoke the link of a calendar feed."""
        self._services.feeds.delete(feed_id, _reach(req.scope))
        resp.status = HTTPStatus.NO_CONTENT


def _reach(scope: Scope) -> Reach:
    """Return the feeds: those of resources need the right to create one."""
    return Reach(project_id=scope.project_id, privileged=scope.allows(policies.RESOURCE))
