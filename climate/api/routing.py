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

"""Routing: the router, its hooks, and the scope that handlers receive."""

from __future__ import annotations

import datetime
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
from webob import multidict

from climate import exceptions
from climate.api import conditions
from climate.api import errors
from climate.api import idempotency_keys
from climate.api import queries
from climate.api.auth import CONTEXT
from climate.api.controllers.base import Controller
from climate.api.controllers.base import Guard
from climate.api.controllers.base import Handler
from climate.api.controllers.base import ID_PREFIX
from climate.api.idempotency_keys import IdempotentRequests
from climate.api.microversions import Microversion
from climate.api.microversions import V1_4
from climate.api.microversions import V1_5
from climate.api.services import Enforcer
from climate.api.streams import JsonText
from climate.clock import Clock
from climate.domain.budgets import BudgetLimits
from climate.domain.budgets import RequestBudget
from climate.domain.origins import RequestOrigin
from climate.domain.requests import Caller
from climate.policies import leases as lease_policies
from climate.policies import properties as property_policies
from climate.tracing import spans

JSON: Final = 'application/json'
Credentials = Mapping[str, Any]
"""Who calls, in the words of rules; the values are hashable."""

_DECIDED_SECONDS = 1.0
_READS: Final = frozenset({'GET', 'HEAD'})


class Router(core.ExplicitPecan):
    """A pecan router that never takes an id for an attribute of a controller.

    pecan looks up each segment of a path as an attribute of a controller before it
    calls ``_lookup``. An id such as ``index`` or ``__init__`` would match one, so each
    segment that is not a word of a route gets a prefix that no attribute has.

    :param words: words in the paths of all routes, see :func:`climate.api.routes.words`
    """

    def __init__(self, root: Controller, words: Collection[str], **options: Any) -> None:
        super().__init__(root, **options)
        self._words = frozenset(words)

    def route(self, req: Any, node: Any, path: str) -> Any:
        """Return the controller of *path*, and the remaining segments."""
        segments = path.rstrip('/').split('/')[1:]
        marked = [word if word in self._words else ID_PREFIX + word for word in segments]
        return super().route(req, node, '/'.join(['', *marked]))

    def invoke_controller(self, controller: Handler, args: Any, kwargs: Any, state: Any) -> None:
        """Call a handler, and write what it returns as JSON, unless it is a response.

        pecan would inspect the signature of the handler each time, and choose among
        templates. Handlers of Climate have one, or return nothing.
        """
        result = controller(*args, **kwargs)
        if isinstance(result, webob.Response):
            state.response = result
            return
        if controller.__dict__['_pecan']['content_types'].get(JSON) is not None:
            text = result if isinstance(result, JsonText) else jsonify.encode(result)
            state.response.text = text
        state.response.content_type = JSON

    def _handle_empty_response_body(self, state: Any) -> None:
        """Keep the status of a HEAD request, which pecan takes for one without an answer."""
        if state.request.method != 'HEAD' or state.response.status_int != HTTPStatus.OK:
            super()._handle_empty_response_body(state)


class Json(hooks.PecanHook):
    """Makes every response JSON, including errors."""

    priority = 10

    def on_route(self, state: Any) -> None:
        """Keep pecan from negotiating: clients get JSON, whatever they accept."""
        state.request.pecan['content_type'] = JSON

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
        self,
        environ: dict[str, Any],
        decisions: Decisions,
        clock: Clock,
        limits: BudgetLimits,
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


class Request(pecan.Request):
    """A request that has passed the hook ``Guards``."""

    scope: Scope

    @property
    def POST(self) -> multidict.NoVars:
        """No form: pecan would read one for the arguments of a handler."""
        return multidict.NoVars('Bodies are JSON')


class Guards(hooks.PecanHook):
    """Refuses requests that do not satisfy the guard of their route.

    Checks the microversion, method, policy, query parameters and idempotency key, in
    this order, so that only callers who may send a request get its stored answer.
    """

    priority = 30

    def __init__(
        self,
        enforcer: Enforcer,
        clock: Clock,
        idempotent: IdempotentRequests,
        limits: BudgetLimits,
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
        guard: Guard = state.controller.__dict__['guard']
        since = guard.since or owner(state).since
        if environ['climate.microversion'] < since:
            raise errors.RouteNotFound
        if not is_served(state):
            raise exceptions.MethodNotAllowed(allowed=set(handlers(state.controller)))
        scope = Scope(environ, self._decisions, self._clock, self._limits)
        scope.authorize(guard.rule)
        if guard.parameters is not None and scope.parameters:
            queries.refuse_unknown(scope.parameters, guard.parameters, scope.version)
        state.request.scope = scope
        if (
            state.request.method not in _READS
            and not guard.conditional
            and not conditions.HEADERS.isdisjoint(environ)
        ):
            conditions.read(environ, scope.version).check_untagged()
        if idempotency_keys.ENVIRON_KEY in environ and _takes_key(state, scope):
            scope.object_id = self._idempotent.begin(environ)

    def after(self, state: Any) -> None:
        """Store the response if the request has an idempotency key; evaluate conditions."""
        environ, response = state.request.environ, state.response
        if idempotency_keys.CLAIMED in environ:
            guard: Guard = state.controller.__dict__['guard']
            self._idempotent.end(environ, response, secret=guard.secret)
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
    guard: Guard = state.controller.__dict__['guard']
    return guard.large and state.request.scope.version >= V1_5


def is_served(state: Any) -> bool:
    """Whether the route of a request supports its method."""
    if is_generic_handler(state.controller):
        return True
    method = state.request.method
    return ('GET' if method == 'HEAD' else method) in handlers(state.controller)


def owner(state: Any) -> Controller:
    """Return the controller whose method pecan is about to call."""
    bound = getattr(state.controller, '__self__', None)
    # Generic handlers are functions: pecan passes the controller as first argument.
    found: Controller = state.arguments.args[0] if bound is None else bound
    return found


def handlers(action: Handler) -> Mapping[str, Handler]:
    """Return the handlers of an exposed method by HTTP method.

    pecan calls the handler DEFAULT for each method that has no handler of its own.
    """
    known = action.__dict__['_pecan'].get('generic_handlers')
    if known is None:
        return {action.__dict__['guard'].method: action}
    return {'GET' if method == 'DEFAULT' else method: one for method, one in known.items()}


def is_generic_handler(action: Handler) -> bool:
    """Whether *action* was declared with ``when(method=...)``."""
    return bool(action.__dict__['_pecan'].get('generic_handler'))
