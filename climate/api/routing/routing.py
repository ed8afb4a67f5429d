# SPDX-License-Identifier: Apache-2.0

"""Routing: the router, its hooks, and the scope that handlers receive."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from typing import Final

import pecan
import webob
from oslo_context.context import RequestContext
from pecan import core
from pecan import hooks
from pecan import jsonify

from climate import exceptions
from climate.api import errors
from climate.api import path_ids
from climate.api.http import conditions
from climate.api.http import queries
from climate.api.http.environ_keys import CONTEXT
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_4
from climate.api.http.microversions import V1_5
from climate.api.http.streams import JsonText
from climate.api.routing import idempotency_keys
from climate.api.routing.idempotency_keys import IdempotentRequests
from climate.api.routing.routes import Route
from climate.api.routing.routes import RouteTable
from climate.api.routing.services import Enforcer
from climate.clock import Clock
from climate.domain.budgets import BudgetLimits
from climate.domain.budgets import RequestBudget
from climate.domain.origins import RequestOrigin
from climate.domain.requests import Caller
from climate.policies import leases as lease_policies
from climate.policies import properties as property_policies
from climate.tracing import spans

JSON: Final = 'application/json'
Handler = Callable[..., Any]
Credentials = Mapping[str, Any]
"""Who calls, in the words of rules; the values are hashable."""

_DECIDED_SECONDS = 1.0
_READS: Final = frozenset({'GET', 'HEAD'})


class Request(pecan.Request):
    """A request that has passed the hook ``RouteChecks``.

    :ivar methods: the methods of its path
    """

    methods: Collection[str]
    scope: Scope


class Router(core.PecanBase):
    """pecan with a table of routes, in place of controllers that are found by attributes.

    ``state.controller`` is the :class:`climate.api.routing.routes.Route` of a request, also
    if its path has other methods only; None if it has no route.
    """

    def __init__(self, table: RouteTable, hooks: list[hooks.PecanHook]) -> None:
        super().__init__(table, hooks=hooks, request_cls=Request)
        self._table = table

    def determine_hooks(self, controller: Route | None = None) -> list[hooks.PecanHook]:
        """Return the hooks of all routes."""
        return self.hooks

    def find_controller(self, state: Any) -> tuple[Handler, list[Any], dict[str, Any]]:
        """Return the handler of a request and its arguments, after the hooks have passed it.

        :raises climate.api.errors.RouteNotFound: if its path has no route
        """
        request = state.request
        routes, ids = self._table.find(request.path_info)
        if not routes:
            raise errors.RouteNotFound
        request.methods = routes.keys()
        method = request.method.replace('HEAD', 'GET')
        # A method that the path lacks is checked like its GET.
        route = routes.get(method) or routes.get('GET') or next(iter(routes.values()))
        state.controller = route
        self.handle_hooks(self.hooks, 'before', state)
        read = [path_ids.read(name, text) for name, text in ids.items()]
        return route.handler, [request, state.response, *read], {}

    def invoke_controller(self, controller: Handler, args: Any, kwargs: Any, state: Any) -> None:
        """Call a handler, and write what it returns as JSON, unless it is a response."""
        result = controller(*args, **kwargs)
        if isinstance(result, webob.Response):
            state.response = result
            return
        if result is not None:
            text = result if isinstance(result, JsonText) else jsonify.encode(result)
            state.response.text = text
        state.response.content_type = JSON

    def _handle_empty_response_body(self, state: Any) -> None:
        """Keep the status of a HEAD request, which pecan takes for one without an answer."""
        if state.request.method != 'HEAD' or state.response.status_int != HTTPStatus.OK:
            super()._handle_empty_response_body(state)


class Json(hooks.PecanHook):
    """Makes errors JSON."""

    priority = 10

    def on_error(self, state: Any, error: Exception) -> webob.Response:
        """Return the error response."""
        return errors.response(error, state.request.environ)


class Decisions:
    """The decisions of the policy, each kept for a second at most.

    For each decision oslo.policy looks for changes in its files, and inspects the
    signature of each check of the rule: more work than most requests are.
    """

    def __init__(self, enforcer: Enforcer, clock: Clock) -> None:
        self._enforcer = enforcer
        self._clock = clock
        self._known: dict[tuple[Any, ...], bool] = {}
        self._until = 0.0

    def allows(self, rule: str, credentials: Credentials) -> bool:
        """Return whether *rule* allows a caller to act in the project of the credentials."""
        now = self._clock.ticks()
        if now >= self._until:
            # A new one: other threads may be writing to the old one.
            self._known = {}
            self._until = now + _DECIDED_SECONDS
        known = self._known
        key = (rule, *credentials.values())
        if key not in known:
            # Callers reach objects of their own project only, so that project is
            # the target of each rule.
            target = {'project_id': credentials['project_id']}
            given = {**credentials, 'roles': list(credentials['roles'])}
            known[key] = bool(self._enforcer.authorize(rule, target, given))
        return known[key]


def credentials(context: RequestContext) -> Credentials:
    """Return what the policy knows about a caller."""
    return {
        'user_id': context.user_id,
        'project_id': context.project_id,
        'roles': tuple(context.roles or ()),
        'domain_id': context.domain_id,
        'system_scope': context.system_scope,
    }


class Scope:
    """What handlers know about a request: the caller, microversion and parameters.

    :ivar now: the instant that ``now`` in the request means (aware UTC)
    :ivar object_id: the id of the object that the request makes; None for any
    """

    def __init__(
        self, environ: dict[str, Any], decisions: Decisions, clock: Clock, limits: BudgetLimits
    ) -> None:
        self._decisions = decisions
        context = environ[CONTEXT]
        self._credentials = credentials(context)
        self.now: datetime.datetime = clock.now()
        self.object_id: str | None = None
        self.version: Microversion = environ['climate.microversion']
        self.parameters: queries.Parameters = environ['climate.parameters']
        self.caller = Caller(
            user_id=context.user_id,
            project_id=context.project_id,
            roles=frozenset(context.roles or ()),
            user_name=context.user_name,
            project_name=context.project_name,
            all_projects=self.allows(lease_policies.ALL_PROJECTS),
            origin=RequestOrigin(
                request_id=context.request_id,
                global_request_id=context.global_request_id,
                traceparent=environ.get(spans.TRACEPARENT),
            ),
            token=context.auth_token,
            budget=RequestBudget(
                limits, clock.processor, clock.ticks, exceptions.RequirementsTooSlow
            ),
        )

    def allows(self, rule: str) -> bool:
        """Whether *rule* allows the caller to act in the project of the token."""
        return self._decisions.allows(rule, self._credentials)

    def authorize(self, rule: str) -> None:
        """Return if *rule* allows the request.

        :raises climate.exceptions.PolicyNotAuthorized: if not
        """
        if not self.allows(rule):
            raise exceptions.PolicyNotAuthorized(action=rule)

    @property
    def project_id(self) -> str | None:
        """The project whose leases the caller can see; None for all projects."""
        return None if self.caller.all_projects else self.caller.project_id

    @property
    def sees_private(self) -> bool:
        """Whether the caller can see private properties."""
        return self.allows(property_policies.PRIVATE)


class RouteChecks(hooks.PecanHook):
    """Refuses requests that do not satisfy the checks of their route.

    Checks the microversion, method, policy, query parameters and idempotency key, in
    this order, so that only callers who may send a request get its stored answer.
    """

    priority = 30

    def __init__(
        self, enforcer: Enforcer, clock: Clock, idempotent: IdempotentRequests, limits: BudgetLimits
    ) -> None:
        self._decisions = Decisions(enforcer, clock)
        self._clock = clock
        self._idempotent = idempotent
        self._limits = limits

    def before(self, state: Any) -> None:
        """Check the request, and add the scope to it.

        :raises climate.exceptions.ClimateError: if the handler must not be called
        """
        environ = state.request.environ
        route: Route = state.controller
        if environ['climate.microversion'] < route.since:
            raise errors.RouteNotFound
        if state.request.method.replace('HEAD', 'GET') not in state.request.methods:
            raise exceptions.MethodNotAllowed(allowed=set(state.request.methods))
        scope = Scope(environ, self._decisions, self._clock, self._limits)
        scope.authorize(route.rule)
        if route.parameters is not None and scope.parameters:
            queries.refuse_unknown(scope.parameters, route.parameters, scope.version)
        state.request.scope = scope
        if (
            state.request.method not in _READS
            and not route.conditional
            and not conditions.HEADERS.isdisjoint(environ)
        ):
            conditions.read(environ, scope.version).check_untagged()
        if idempotency_keys.ENVIRON_KEY in environ and _takes_key(state, scope):
            scope.object_id = self._idempotent.begin(environ)

    def after(self, state: Any) -> None:
        """Store the response if the request has an idempotency key; evaluate conditions."""
        environ, response = state.request.environ, state.response
        if idempotency_keys.CLAIMED in environ:
            self._idempotent.end(environ, response, secret=state.controller.secret)
        if response.status_int == HTTPStatus.OK and hasattr(state.request, 'scope'):
            try:
                if _is_tagged_list(state):
                    conditions.tag_list(state.request, response)
                if not conditions.HEADERS.isdisjoint(environ):
                    conditions.check_shown(state.request, response)
            except exceptions.ClimateError as error:
                state.response = errors.response(error, environ)


def _takes_key(state: Any, scope: Scope) -> bool:
    return state.request.method == 'POST' and scope.version >= V1_4


def _is_tagged_list(state: Any) -> bool:
    return bool(state.controller.large) and state.request.scope.version >= V1_5
