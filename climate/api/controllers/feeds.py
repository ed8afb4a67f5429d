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

"""``/feeds``."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pecan

from climate.api import bodies
from climate.api import queries
from climate.api.controllers import base
from climate.api.feed_links import SUFFIX
from climate.api.microversions import V1_5
from climate.api.routing import Request
from climate.api.routing import Scope
from climate.api.schemas import feeds as schemas
from climate.api.schemas import webhooks as lists
from climate.api.views import feeds as view
from climate.domain.requests import Reach
from climate.policies import feeds as policies


class FeedsController(base.Controller):
    """``/feeds``."""

    noun = 'feeds'
    since = V1_5

    @pecan.expose()
    def _lookup(self, feed_id: str, *rest: str) -> tuple[FeedController, tuple[str, ...]]:
        return FeedController(self._services, self._settings, base.key(feed_id)), rest

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.LIST, lists.PAGE)
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """List calendar feeds, a page at a time."""
        scope = req.scope
        marker, limit = queries.paging(scope.parameters, self._settings.max_limit)
        found = self._services.feeds.page(_reach(scope), marker, limit + 1)
        shown: dict[str, Any] = {'feeds': [view.feed(one, scope.version) for one in found[:limit]]}
        if len(found) > limit:
            href = queries.next_page(req.path_url, scope.parameters, found[limit - 1].id)
            shown['feeds_links'] = [{'rel': 'next', 'href': href}]
        return shown

    @index.when(method='POST', template='json')
    @base.guard(policies.CREATE, secret=True)
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


class FeedController(base.Item):
    """``/feeds/{feed_id}``."""

    noun = 'feeds'
    since = V1_5

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.SHOW)
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """Show a calendar feed, without its link."""
        found = self._services.feeds.get(self._id(), _reach(req.scope))
        return {'feed': view.feed(found, req.scope.version)}

    @index.when(method='DELETE', content_type='application/json')
    @base.guard(policies.DELETE)
    def delete(self, req: Request, resp: Any) -> None:
        """Revoke the link of a calendar feed."""
        self._services.feeds.delete(self._id(), _reach(req.scope))
        resp.status = HTTPStatus.NO_CONTENT

    def _id(self) -> str:
        return base.uuid('feed_id', self._key)


def _reach(scope: Scope) -> Reach:
    """Return the feeds: those of resources need the right to create one."""
    return Reach(project_id=scope.project_id, privileged=scope.allows(policies.RESOURCE))
