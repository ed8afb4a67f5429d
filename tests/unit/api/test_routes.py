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

"""The routes, and how pecan finds them."""

from __future__ import annotations

import re

import webob

from climate import exceptions
from climate import policies
from climate.api import auth
from climate.api import errors
from climate.api import microversions
from climate.api import routes
from climate.api import routing
from climate.api.idempotency_keys import IdempotentRequests
from climate.api.waits import Waits
from climate.clock import SystemClock
from climate.domain.budgets import BudgetLimits
from tests import base
from tests.routes import ALL
from tests.routes import root


class Enforcer:
    """Ends each request that has a route: it remembers the rule, and refuses."""

    rule = ''

    def authorize(self, rule, target, creds):
        """Refuse, but for what every scope asks."""
        self.rule = rule
        return False


def keyless():
    """Return what handles idempotency keys; no request of these tests has one."""
    return IdempotentRequests(None, Waits())


class Found(routing.Json):
    """Remembers which handler pecan found and what it was to be called with; raises."""

    def __init__(self):
        self.handler = None
        self.key = None

    def before(self, state):
        """Remember."""
        self.handler = state.controller
        self.key = vars(routing.owner(state)).get('_key')

    def on_error(self, state, error):
        """Let it through."""


def match(method, path, version=microversions.MAX, served=('virtual:floatingip',)):
    """Return the policy rule and the ids of the route that a request finds."""
    found, enforcer = Found(), Enforcer()
    guards = routing.Guards(enforcer, SystemClock(), keyless(), BudgetLimits())
    controllers = root(*served)
    app = routing.Router(
        controllers,
        routes.words(controllers),
        hooks=[found, guards],
        request_cls=routing.Request,
        force_canonical=False,
        guess_content_type_from_ext=False,
    )
    request = webob.Request.blank(path, method=method)
    request.environ['climate.microversion'] = version
    request.environ['climate.parameters'] = {}
    request.environ['HTTP_X_USER_ID'] = request.environ['HTTP_X_PROJECT_ID'] = 'x'
    request.environ[auth.CONTEXT] = auth.oslo_context.RequestContext.from_environ(request.environ)
    try:
        answer = request.get_response(app)
    except exceptions.PolicyNotAuthorized:
        return enforcer.rule.removeprefix('climate:').replace(':', '.'), found.key
    assert answer.status_int == 404, answer
    raise errors.RouteNotFound


class RoutesTest(base.TestCase):
    """Which route answers what."""

    def test_both_roots_and_a_trailing_slash(self):
        for path in ('/v1/leases', '/leases', '/v1/leases/', '/leases/', '/leases//'):
            self.assertEqual(('leases.list', None), match('GET', path))

    def test_words_come_before_ids(self):
        self.assertEqual(('allocations.list', None), match('GET', '/os-hosts/allocations'))
        self.assertEqual(('properties.list', None), match('GET', '/os-hosts/properties'))
        self.assertEqual(('hosts.show', '7'), match('GET', '/os-hosts/7'))
        self.assertEqual(('allocations.show', '7'), match('GET', '/os-hosts/7/allocation'))
        self.assertRaises(exceptions.MethodNotAllowed, match, 'DELETE', '/os-hosts/properties')

    def test_a_property_may_hold_a_slash(self):
        for path, name in (('a/b', 'a/b'), ('/a', '/a'), ('a/', 'a'), ('a//b', 'a//b')):
            wanted = ('properties.update', name)
            self.assertEqual(wanted, match('PATCH', f'/v1/os-hosts/properties/{path}'))

    def test_ids_are_no_attributes_of_controllers(self):
        for name in ('index', 'create', '_lookup', '__init__', '_services', 'since', '=', 'leases'):
            self.assertEqual(('leases.show', name), match('GET', f'/leases/{name}'))
            self.assertEqual(('leases.update', name), match('PUT', f'/leases/{name}'))
            wanted = ('properties.update', name)
            self.assertEqual(wanted, match('PATCH', f'/os-hosts/properties/{name}'))
            self.assertRaises(errors.RouteNotFound, match, 'GET', f'/leases/7/{name}')
            self.assertRaises(errors.RouteNotFound, match, 'GET', f'/{name}/7/8')

    def test_head_is_get(self):
        self.assertEqual(('hosts.list', None), match('HEAD', '/v1/os-hosts'))

    def test_unknown(self):
        for path in (
            '/nope',
            '/v1',
            '/v2/leases',
            '/v1/v1/leases',
            '/v1/leases/a/b',
            '//leases',
            '/leases//history',
            '/leases/7/history/x',
            '/leases/7/update',
            '/index',
            '/v1/index',
            '/_lookup',
            '/__class__',
        ):
            for method in ('GET', 'PUT', 'POST'):
                self.assertRaises(errors.RouteNotFound, match, method, path)

    def test_wrong_method(self):
        for path, allowed in (
            ('/leases', {'GET', 'POST'}),
            ('/leases/7', {'GET', 'PUT', 'DELETE'}),
            ('/leases/7/reallocate', {'POST'}),
            ('/os-hosts/properties/x', {'PATCH'}),
        ):
            for method in ('PATCH', 'OPTIONS', 'BREW', 'DELETE', 'GET', 'HEAD'):
                if method.replace('HEAD', 'GET') not in allowed:
                    error = self.assertRaises(exceptions.MethodNotAllowed, match, method, path)
                    self.assertEqual(allowed, error.facts['allowed'])

    def test_a_route_is_not_there_before_its_microversion(self):
        for route in ALL:
            path = re.sub(r'\{\w+\}', '7', route.path)
            self.assertEqual(
                route.guard.rule, 'climate:' + match(route.method, path)[0].replace('.', ':')
            )
            if route.since == microversions.MIN:
                continue
            before = microversions.Microversion(1, route.since.minor - 1)
            self.assertRaises(errors.RouteNotFound, match, route.method, path, before)
            # Another method of the path may be older.
            older = any(one.path == route.path and one.since <= before for one in ALL)
            refusal = exceptions.MethodNotAllowed if older else errors.RouteNotFound
            self.assertRaises(refusal, match, 'OPTIONS', path, before)

    def test_a_route_is_not_there_without_its_resource_type(self):
        left = {route.path for route in routes.walk(root().v1)}
        for route in ALL:
            path = re.sub(r'\{\w+\}', '7', route.path)
            if route.noun == 'floatingips':
                self.assertRaises(
                    errors.RouteNotFound, match, route.method, path, microversions.MAX, ()
                )
            else:
                self.assertIn(route.path, left)

    def test_each_route_is_guarded_by_a_rule_that_says_so(self):
        guarded = {
            (operation['method'], operation['path'])
            for rule in policies.list_rules()
            for operation in getattr(rule, 'operations', ())
        }
        self.assertEqual(guarded, {(route.method, f'/v1{route.path}') for route in ALL})
        for route in ALL:
            (rule,) = (one for one in policies.list_rules() if one.name == route.guard.rule)
            operation = {'method': route.method, 'path': f'/v1{route.path}'}
            self.assertIn(operation, rule.operations)
