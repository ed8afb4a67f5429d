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

"""``/offers``."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pecan

from climate.api import bodies
from climate.api.controllers import base
from climate.api.microversions import V1_4
from climate.api.routing import Request
from climate.api.schemas import offers as schemas
from climate.api.views import stored_offers as view
from climate.policies import offers as policies


class OffersController(base.Controller):
    """``/offers``."""

    noun = 'offers'
    since = V1_4
    evaluates = True

    @pecan.expose()
    def _lookup(self, offer_id: str, *rest: str) -> tuple[OfferController, tuple[str, ...]]:
        return OfferController(self._services, self._settings, base.key(offer_id)), rest

    @pecan.expose(template='json')
    @base.guard(policies.CREATE, method='POST')
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """Find periods in which a lease could be booked, and hold the first if requested."""
        scope = req.scope
        body = bodies.read(req.environ, self._services.texts)
        request = schemas.read(body, scope.now, scope.version, self._settings.max_reservations)
        # The offers themselves expire unnoticed; a hold takes resources away from others.
        req.environ[base.EVALUATES] = request.hold is None
        found = self._services.leases.offers(scope.caller, request, scope.object_id)
        return view.page(found, scope.version)


class OfferController(base.Item):
    """``/offers/{offer_id}``."""

    noun = 'offers'
    since = V1_4

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.SHOW)
    def index(self, req: Request, resp: Any) -> dict[str, Any]:
        """Show a stored offer."""
        found = self._services.leases.offer(self._id(), req.scope.project_id)
        return {'offer': view.stored(found, req.scope.version)}

    @index.when(method='DELETE', content_type='application/json')
    @base.guard(policies.DELETE)
    def delete(self, req: Request, resp: Any) -> None:
        """Delete a stored offer, and release what is held for it."""
        self._services.leases.delete_offer(self._id(), req.scope.project_id)
        resp.status = HTTPStatus.NO_CONTENT

    def _id(self) -> str:
        return base.uuid('offer_id', self._key)
