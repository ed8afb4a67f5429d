# SPDX-License-Identifier: Apache-2.0

"""``/offers``."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from climate.api.http import bodies
from climate.api.http import environ_keys
from climate.api.http.microversions import V1_4
from climate.api.routing import base
from climate.api.routing.routes import Route
from climate.api.routing.routing import Request
from climate.api.schemas import offers as schemas
from climate.api.views import stored_offers as view
from climate.policies import offers as policies


class OffersController(base.Controller):
    """``/offers``."""

    noun = 'offers'
    since = V1_4

    def routes(self) -> Iterable[Route]:
        """Return the routes."""
        return (
            self._route('POST', '/offers', self.create, policies.CREATE, evaluates=True),
            self._route('GET', '/offers/{offer_id}', self.show, policies.SHOW),
            self._route('DELETE', '/offers/{offer_id}', self.delete, policies.DELETE),
        )

    def create(self, req: Request, resp: Any) -> dict[str, Any]:
        """Find periods in which a lease could be booked, and hold the first if requested."""
        scope = req.scope
        body = bodies.read(req.environ, self._services.texts)
        request = schemas.read(body, scope.now, scope.version, self._settings.max_reservations)
        # The offers themselves expire unnoticed; a hold takes resources away from others.
        req.environ[environ_keys.EVALUATES] = request.hold is None
        offers = self._services.leases.offers(scope.caller, request, scope.object_id)
        return view.page(offers, scope.version)

    def show(self, req: Request, resp: Any, offer_id: str) -> dict[str, Any]:
        """Show a stored offer."""
        offer = self._services.leases.offer(offer_id, req.scope.project_id)
        return {'offer': view.stored(offer, req.scope.version)}

    def delete(self, req: Request, resp: Any, offer_id: str) -> None:
        """Delete a stored offer, and release what is held for it."""
        self._services.leases.delete_offer(offer_id, req.scope.project_id)
        resp.status = HTTPStatus.NO_CONTENT
