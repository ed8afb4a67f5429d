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

"""``/leases``."""

from __future__ import annotations

import dataclasses
import functools
import json
from http import HTTPStatus
from typing import Any

import pecan

from climate.api import bodies
from climate.api import conditions
from climate.api import idempotency_keys
from climate.api import microversions
from climate.api import preferences
from climate.api import queries
from climate.api import streams
from climate.api.controllers import base
from climate.api.routing import Request
from climate.api.routing import Scope
from climate.api.schemas import extensions
from climate.api.schemas import leases as schemas
from climate.api.schemas import readiness
from climate.api.schemas import reallocations
from climate.api.schemas import taken_offers
from climate.api.views import extensions as extension_view
from climate.api.views import lease_lists
from climate.api.views import leases as view
from climate.api.views.lease_lists import LeaseWriter
from climate.booking.leases import Leases
from climate.booking.rehearsal import Rehearsed
from climate.domain.leases import Lease
from climate.domain.offers import StoredOffer
from climate.domain.requests import Check
from climate.domain.requests import LeaseDraft
from climate.exceptions import NotEnoughResources
from climate.exceptions import PolicyNotAuthorized
from climate.policies import calendar as calendar_policies
from climate.policies import leases as policies


class LeasesController(base.Controller):
    """``/leases``."""

    noun = 'leases'

    @pecan.expose()
    def _lookup(self, lease_id: str, *rest: str) -> tuple[LeaseController, tuple[str, ...]]:
        return LeaseController(self._services, self._settings, base.key(lease_id)), rest

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.LIST, None, large=True)
    def index(self, req: Request, resp: Any) -> Any:
        """List the leases that the caller can see."""
        scope = req.scope
        query = queries.leases(
            scope.parameters,
            scope.version,
            project_id=_wanted_project(scope),
            caller_id=scope.caller.user_id,
            now=scope.now,
            max_limit=self._settings.max_limit,
        )
        writer = LeaseWriter(self._services.plugins, scope.version)
        if query.limit is None:
            batches = self._services.leases.batches(query)
            listed = streams.listed(req, resp, 'leases', map(writer.array, batches))
            # A streamed list has no entity tag: it would have to be read twice.
            return listed if listed is resp else conditions.answer(req, resp, listed)
        known = lease_lists.fields(scope.version)
        fields = queries.fields(scope.parameters, scope.version, known)
        page = self._services.leases.page(query)
        links = ''
        if page.more and page.leases:
            href = queries.next_page(req.path_url, scope.parameters, page.leases[-1].id)
            links = f', "leases_links": {json.dumps([{"rel": "next", "href": href}])}'
        array = (
            writer.array if fields is None else functools.partial(writer.selected, fields=fields)
        )
        body = streams.JsonText(f'{{"leases": {array(page.leases)}{links}}}')
        return conditions.answer(req, resp, body)

    @index.when(method='POST', template='json')
    @base.guard(policies.CREATE)
    def create(self, req: Request, resp: Any) -> Any:
        """Create a lease."""
        scope, leases, body = (
            req.scope,
            self._services.leases,
            bodies.read(req.environ, self._services.texts),
        )
        offer = None
        if taken_offers.OFFER_ID in body and scope.version >= microversions.V1_4:
            offer = _offer(leases, scope, taken_offers.read(body))
            body = taken_offers.filled(body, offer, scope.version)
        reader = schemas.Reader(body, scope.version, scope.now)
        draft = reader.draft(self._settings.max_reservations, scope.object_id)
        req.environ[base.EVALUATES] = req.environ[idempotency_keys.REHEARSED] = reader.dry_run
        try:
            if reader.dry_run:
                return _rehearsed(_rehearse(leases, scope, draft, offer), leases, scope)
            lease = _create(leases, scope, draft, offer)
        except NotEnoughResources as error:
            if not reader.dry_run:
                leases.refusals.add(scope.caller.project_id, error)
            if scope.version >= microversions.V1_4:
                store = not reader.dry_run
                leases.add_alternatives(scope.caller, draft, error, store=store)
            raise
        lease = preferences.started(self._services, self._settings.waits, req, resp, lease)
        resp.status = HTTPStatus.CREATED
        shown = _answer(leases, lease, scope)
        return conditions.answer(req, resp, shown, _path(lease))


class LeaseController(base.Item):
    """``/leases/{lease_id}``."""

    noun = 'leases'

    @pecan.expose(generic=True, template='json')
    @base.guard(policies.SHOW)
    def index(self, req: Request, resp: Any) -> Any:
        """Show a lease."""
        scope, held = req.scope, req.scope.version >= microversions.V1_7
        lease = self._services.leases.shown(self._id(), scope.project_id, held=held)
        writer = LeaseWriter(self._services.plugins, scope.version, named=_names_resources(scope))
        text = writer.object(lease)
        return conditions.answer(req, resp, streams.JsonText(f'{{"lease": {text}}}'))

    @index.when(method='PUT', template='json')
    @base.guard(policies.UPDATE, conditional=True)
    def update(self, req: Request, resp: Any) -> Any:
        """Change a lease."""
        scope, leases, lease_id = req.scope, self._services.leases, self._id()
        body = bodies.read(req.environ, self._services.texts)
        reader = schemas.Reader(body, scope.version, scope.now)
        change = reader.change(lambda: leases.get(lease_id, scope.project_id).period.start)
        change = dataclasses.replace(change, check=self._check(req))
        req.environ[base.EVALUATES] = reader.dry_run
        wanted = scope.caller, lease_id, scope.project_id, change
        try:
            if reader.dry_run:
                return _rehearsed(leases.rehearse_update(*wanted), leases, scope)
            return self._answer(leases.update(*wanted), req, resp)
        except NotEnoughResources as error:
            if scope.version >= microversions.V1_4:
                leases.add_alternatives_of_change(*wanted, error)
            raise

    @index.when(method='DELETE', content_type='application/json')
    @base.guard(policies.DELETE, conditional=True)
    def delete(self, req: Request, resp: Any) -> None:
        """Delete a lease; a manager cleans up the cloud afterwards."""
        scope, leases, lease_id = req.scope, self._services.leases, self._id()
        leases.delete(scope.caller, lease_id, scope.project_id, self._check(req))
        resp.status = HTTPStatus.NO_CONTENT
        preferences.removed(self._services, self._settings.waits, req, resp, lease_id)

    @pecan.expose(template='json')
    @base.guard(policies.REALLOCATE, method='POST', since=microversions.V1_2, conditional=True)
    def reallocate(self, req: Request, resp: Any) -> Any:
        """Replace a resource of a lease with another one."""
        scope, lease_id = req.scope, self._id()
        wanted = reallocations.read(bodies.read(req.environ))
        if wanted.forced:
            scope.authorize(policies.FORCE)
        check = self._check(req)
        lease = self._services.leases.reallocate(
            lease_id, scope.project_id, wanted, check, scope.caller.budget
        )
        return self._answer(lease, req, resp)

    @pecan.expose(template='json')
    @base.guard(policies.SHOW, since=microversions.V1_3)
    def history(self, req: Request, resp: Any) -> dict[str, Any]:
        """Show what was done for a lease in the cloud, and the events it awaits."""
        found = self._services.leases.history(self._id(), req.scope.project_id)
        return {'history': view.history(found, req.scope.version)}

    @pecan.expose(template='json')
    @base.guard(policies.SHOW, extensions.PARAMETERS, since=microversions.V1_4)
    def extension(self, req: Request, resp: Any) -> dict[str, Any]:
        """Show how far a lease can be extended, and what is in the way; nothing is kept."""
        scope = req.scope
        latest = extensions.latest(scope.parameters, scope.now, scope.version)
        found = self._services.leases.extension(scope.caller, self._id(), scope.project_id, latest)
        return {'extension': extension_view.extension(found, scope.version)}

    @pecan.expose(template='json')
    @base.guard(policies.READINESS, method='POST', since=microversions.V1_3, conditional=True)
    def readiness(self, req: Request, resp: Any) -> Any:
        """Record which resources of a lease are ready."""
        # Callers that may record readiness see the leases of every project.
        report = readiness.read(bodies.read(req.environ), req.scope.now)
        lease = self._services.leases.say(self._id(), report, self._check(req))
        return self._answer(lease, req, resp)

    def _id(self) -> str:
        return base.uuid('lease_id', self._key)

    def _answer(self, lease: Lease, req: Request, resp: Any) -> Any:
        shown = _answer(self._services.leases, lease, req.scope)
        return conditions.answer(req, resp, shown, _path(lease))

    def _check(self, req: Request) -> Check | None:
        """Return what checks the conditions of a request; None if it has none."""
        scope = req.scope
        found = conditions.read(req.environ, scope.version)
        if not found:
            return None

        def check(lease: Lease) -> None:
            body = conditions.written(_shown(self._services.leases, lease, scope))
            found.check(conditions.tag(body, scope.version))

        return check


def _answer(leases: Leases, lease: Lease, scope: Scope) -> dict[str, Any]:
    """Return the body of the answer to a request that has made or changed a lease."""
    if scope.version >= microversions.V1_7:
        lease = leases.with_holdings(lease)
    return _shown(leases, lease, scope)


def _shown(leases: Leases, lease: Lease, scope: Scope) -> dict[str, Any]:
    named = _names_resources(scope)
    return {'lease': view.lease(lease, leases.plugins, scope.version, named=named)}


def _names_resources(scope: Scope) -> bool:
    """Whether the caller may see the resources of leases: those whom the calendar shows them."""
    return scope.version >= microversions.V1_7 and scope.allows(calendar_policies.SHOW)


def _offer(leases: Leases, scope: Scope, offer_id: str) -> StoredOffer:
    """Return the offer that a caller takes: only one of the caller's own project."""
    return leases.offer(offer_id, scope.caller.project_id)


def _create(leases: Leases, scope: Scope, draft: LeaseDraft, offer: StoredOffer | None) -> Lease:
    if offer is None:
        return leases.create(scope.caller, draft)
    return leases.take(scope.caller, draft, offer)


def _rehearse(
    leases: Leases, scope: Scope, draft: LeaseDraft, offer: StoredOffer | None
) -> Rehearsed:
    if offer is None:
        return leases.rehearse_create(scope.caller, draft)
    return leases.rehearse_take(scope.caller, draft, offer)


def _path(lease: Lease) -> str:
    return f'/v1/leases/{lease.id}'


def _rehearsed(found: Rehearsed, leases: Leases, scope: Scope) -> dict[str, Any]:
    shown = view.rehearsed(found, leases.plugins, scope.version, named=scope.caller.all_projects)
    return {'dry_run': shown}


def _wanted_project(scope: Scope) -> str | None:
    wanted = queries.one(scope.parameters, 'project_id')
    if scope.version < microversions.V1_1 or wanted is None:
        return scope.project_id
    if wanted != scope.caller.project_id and not scope.caller.all_projects:
        raise PolicyNotAuthorized(action=policies.ALL_PROJECTS)
    return wanted
