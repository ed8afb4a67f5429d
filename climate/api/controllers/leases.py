# SPDX-License-Identifier: Apache-2.0

"""``/leases``."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from climate.api.http import bodies
from climate.api.http import conditions
from climate.api.http import environ_keys
from climate.api.http import queries
from climate.api.http import streams
from climate.api.http.microversions import V1_1
from climate.api.http.microversions import V1_2
from climate.api.http.microversions import V1_3
from climate.api.http.microversions import V1_4
from climate.api.http.microversions import V1_7
from climate.api.http.streams import JsonText
from climate.api.routing import base
from climate.api.routing import idempotency_keys
from climate.api.routing import prefer_header
from climate.api.routing.routes import Route
from climate.api.routing.routing import Request
from climate.api.routing.routing import Scope
from climate.api.schemas import extensions
from climate.api.schemas import leases as schemas
from climate.api.schemas import readiness
from climate.api.schemas import reallocations
from climate.api.schemas import taken_offers
from climate.api.views import fields
from climate.api.views import histories
from climate.api.views import leases as view
from climate.api.views import offers
from climate.api.views import rehearsals
from climate.api.views.lease_writer import LeaseWriter
from climate.booking.leases import Leases
from climate.booking.writing.rehearsal import DryRun
from climate.domain.leases import Lease
from climate.domain.listed import ListedLease
from climate.domain.offers import StoredOffer
from climate.domain.requests import Check
from climate.domain.requests import LeaseDraft
from climate.domain.requests import UNSET
from climate.exceptions import NotEnoughResources
from climate.exceptions import PolicyNotAuthorized
from climate.policies import calendar as calendar_policies
from climate.policies import leases as policies


class LeasesController(base.Controller):
    """``/leases``."""

    noun = 'leases'

    def routes(self) -> Iterable[Route]:
        """Return the routes."""
        route, item = self._route, '/leases/{lease_id}'
        action = functools.partial(route, 'POST', conditional=True)
        return (
            route('GET', '/leases', self.index, policies.LIST, None, large=True),
            route('POST', '/leases', self.create, policies.CREATE),
            route('GET', item, self.show, policies.SHOW),
            route('PUT', item, self.update, policies.UPDATE, conditional=True),
            route('DELETE', item, self.delete, policies.DELETE, conditional=True),
            action(f'{item}/reallocate', self.reallocate, policies.REALLOCATE, since=V1_2),
            action(f'{item}/readiness', self.readiness, policies.READINESS, since=V1_3),
            route('GET', f'{item}/history', self.history, policies.SHOW, since=V1_3),
            route(
                'GET',
                f'{item}/extension',
                self.extension,
                policies.SHOW,
                extensions.PARAMETERS,
                since=V1_4,
            ),
        )

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
        known = [one.name for one in fields.at(view.LEASE, scope.version)]
        names = queries.fields(scope.parameters, scope.version, known)
        page = self._services.leases.page(query)
        links = ''
        if page.more and page.leases:
            href = queries.next_page(req.path_url, scope.parameters, page.leases[-1].id)
            links = f', "leases_links": {json.dumps([{"rel": "next", "href": href}])}'
        array = writer.array if names is None else functools.partial(writer.selected, names=names)
        body = JsonText(f'{{"leases": {array(page.leases)}{links}}}')
        return conditions.answer(req, resp, body)

    def create(self, req: Request, resp: Any) -> Any:
        """Create a lease."""
        scope, leases, body = (
            req.scope,
            self._services.leases,
            bodies.read(req.environ, self._services.texts),
        )
        offer = None
        if taken_offers.OFFER_ID in body and scope.version >= V1_4:
            offer = _offer(leases, scope, taken_offers.read(body))
            body = taken_offers.filled(body, offer, scope.version)
        reader = schemas.Reader(body, scope.version, scope.now)
        draft = reader.draft(self._settings.max_reservations, scope.object_id)
        if draft.priority is not None and draft.priority > 0:
            scope.authorize(policies.PRIORITY)
        req.environ[environ_keys.EVALUATES] = req.environ[idempotency_keys.REHEARSED] = (
            reader.dry_run
        )
        try:
            if reader.dry_run:
                return _dry_run(_rehearse(leases, scope, draft, offer), leases, scope)
            lease = _create(leases, scope, draft, offer)
        except NotEnoughResources as error:
            if not reader.dry_run:
                leases.refusals.add(scope.caller.project_id, error)
            if scope.version >= V1_4:
                store = not reader.dry_run
                leases.add_alternatives(scope.caller, draft, error, store=store)
            raise
        lease = prefer_header.started(self._services, self._settings.waits, req, resp, lease)
        resp.status = HTTPStatus.CREATED
        shown = _answer(leases, lease, scope)
        return conditions.answer(req, resp, shown, _path(lease))

    def show(self, req: Request, resp: Any, lease_id: str) -> Any:
        """Show a lease."""
        scope, held = req.scope, req.scope.version >= V1_7
        lease = self._services.leases.shown(lease_id, scope.project_id, held=held)
        return conditions.answer(req, resp, _text(self._services.leases, lease, scope))

    def update(self, req: Request, resp: Any, lease_id: str) -> Any:
        """Change a lease."""
        scope, leases = req.scope, self._services.leases
        body = bodies.read(req.environ, self._services.texts)
        reader = schemas.Reader(body, scope.version, scope.now)
        change = reader.change(functools.partial(leases.get, lease_id, scope.project_id))
        if change.priority is not UNSET and change.priority > 0:
            scope.authorize(policies.PRIORITY)
        change = dataclasses.replace(change, check=self._check(req))
        req.environ[environ_keys.EVALUATES] = reader.dry_run
        wanted = scope.caller, lease_id, scope.project_id, change
        try:
            if reader.dry_run:
                return _dry_run(leases.rehearse_update(*wanted), leases, scope)
            return self._answer(leases.update(*wanted), req, resp)
        except NotEnoughResources as error:
            if scope.version >= V1_4:
                leases.add_alternatives_of_change(*wanted, error)
            raise

    def delete(self, req: Request, resp: Any, lease_id: str) -> None:
        """Delete a lease; a manager cleans up the cloud afterwards."""
        scope, leases = req.scope, self._services.leases
        leases.delete(scope.caller, lease_id, scope.project_id, self._check(req))
        resp.status = HTTPStatus.NO_CONTENT
        prefer_header.removed(self._services, self._settings.waits, req, resp, lease_id)

    def reallocate(self, req: Request, resp: Any, lease_id: str) -> Any:
        """Replace a resource of a lease with another one."""
        scope = req.scope
        wanted = reallocations.read(bodies.read(req.environ))
        if wanted.forced:
            scope.authorize(policies.FORCE)
        check = self._check(req)
        lease = self._services.leases.reallocate(
            lease_id, scope.project_id, wanted, check, scope.caller.budget
        )
        return self._answer(lease, req, resp)

    def history(self, req: Request, resp: Any, lease_id: str) -> dict[str, Any]:
        """Show what was done for a lease in the cloud, and the events it awaits."""
        lines = self._services.leases.history(lease_id, req.scope.project_id)
        return {'history': histories.history(lines, req.scope.version)}

    def extension(self, req: Request, resp: Any, lease_id: str) -> dict[str, Any]:
        """Show how far a lease can be extended, and what is in the way; nothing is kept."""
        scope = req.scope
        latest = extensions.latest(scope.parameters, scope.now, scope.version)
        shown = self._services.leases.extension(scope.caller, lease_id, scope.project_id, latest)
        return {'extension': offers.extension(shown, scope.version)}

    def readiness(self, req: Request, resp: Any, lease_id: str) -> Any:
        """Record which resources of a lease are ready."""
        # Callers that may record readiness see the leases of every project.
        report = readiness.read(bodies.read(req.environ), req.scope.now)
        lease = self._services.leases.say(lease_id, report, self._check(req))
        return self._answer(lease, req, resp)

    def _answer(self, lease: Lease, req: Request, resp: Any) -> Any:
        shown = _answer(self._services.leases, lease, req.scope)
        return conditions.answer(req, resp, shown, _path(lease))

    def _check(self, req: Request) -> Check | None:
        """Return what checks the conditions of a request; None if it has none."""
        scope = req.scope
        stated = conditions.read(req.environ, scope.version)
        if not stated:
            return None

        def check(lease: Lease) -> None:
            body = conditions.written(_shown(self._services.leases, lease, scope))
            stated.check(conditions.tag(body, scope.version))

        return check


def _answer(leases: Leases, lease: Lease, scope: Scope) -> JsonText:
    """Return the body of the answer to a request that has made or changed a lease."""
    if scope.version >= V1_7:
        lease = leases.with_holdings(lease)
    return _shown(leases, lease, scope)


def _shown(leases: Leases, lease: Lease, scope: Scope) -> JsonText:
    return _text(leases, ListedLease.of(lease), scope)


def _text(leases: Leases, lease: ListedLease, scope: Scope) -> JsonText:
    writer = LeaseWriter(leases.plugins, scope.version, named=_names_resources(scope))
    return JsonText(f'{{"lease": {writer.object(lease)}}}')


def _names_resources(scope: Scope) -> bool:
    """Whether the caller may see the resources of leases: those whom the calendar shows them."""
    return scope.version >= V1_7 and scope.allows(calendar_policies.SHOW)


def _offer(leases: Leases, scope: Scope, offer_id: str) -> StoredOffer:
    """Return the offer that a caller takes: only one of the caller's own project."""
    return leases.offer(offer_id, scope.caller.project_id)


def _create(leases: Leases, scope: Scope, draft: LeaseDraft, offer: StoredOffer | None) -> Lease:
    if offer is None:
        return leases.create(scope.caller, draft)
    return leases.take(scope.caller, draft, offer)


def _rehearse(leases: Leases, scope: Scope, draft: LeaseDraft, offer: StoredOffer | None) -> DryRun:
    if offer is None:
        return leases.rehearse_create(scope.caller, draft)
    return leases.rehearse_take(scope.caller, draft, offer)


def _path(lease: Lease) -> str:
    return f'/v1/leases/{lease.id}'


def _dry_run(dry_run: DryRun, leases: Leases, scope: Scope) -> JsonText:
    writer = LeaseWriter(leases.plugins, scope.version)
    shown = rehearsals.text(dry_run, writer, scope.caller, scope.version)
    return JsonText(f'{{"dry_run": {shown}}}')


def _wanted_project(scope: Scope) -> str | None:
    wanted = queries.one(scope.parameters, 'project_id')
    if scope.version < V1_1 or wanted is None:
        return scope.project_id
    if wanted != scope.caller.project_id and not scope.caller.all_projects:
        raise PolicyNotAuthorized(action=policies.ALL_PROJECTS)
    return wanted
