# SPDX-License-Identifier: Apache-2.0

"""The routes, and how requests find them."""

from __future__ import annotations

import re

import webob

from climate import exceptions
from climate import policies
from climate.api import errors
from climate.api.authentication import auth
from climate.api.http import environ_keys
from climate.api.http import microversions
from climate.api.http.waits import Waits
from climate.api.routing import routing
from climate.api.routing.idempotency_keys import IdempotentRequests
from climate.clock import SystemClock
from climate.domain.budgets import BudgetLimits
from tests import base
from tests.routes import ALL
from tests.routes import table


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


class Raising(routing.Json):
    """Lets errors through."""

    def on_error(self, state, error):
        """Leave the error to the test."""


def match(method, path, version=microversions.MAX, served=('virtual:floatingip',)):
    """Return the policy rule and the ids of the route that a request finds."""
    enforcer, routes = Enforcer(), table(*served)
    checks = routing.RouteChecks(enforcer, SystemClock(), keyless(), BudgetLimits())
    app = routing.Router(routes, [Raising(), checks])
    request = webob.Request.blank(path, method=method)
    request.environ['climate.microversion'] = version
    request.environ['climate.parameters'] = {}
    request.environ['HTTP_X_USER_ID'] = request.environ['HTTP_X_PROJECT_ID'] = 'x'
    context = auth.oslo_context.RequestContext.from_environ(request.environ)
    request.environ[environ_keys.CONTEXT] = context
    try:
        answer = request.get_response(app)
    except exceptions.PolicyNotAuthorized:
        (key,) = [*routes.find(request.path_info)[1].values()] or [None]
        return enforcer.rule.removeprefix('climate:').replace(':', '.'), key
    raise AssertionError(answer)


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
            found = 'climate:' + match(route.method, path)[0].replace('.', ':')
            self.assertEqual(route.rule, found)
            if route.since == microversions.MIN:
                continue
            before = microversions.Microversion(1, route.since.minor - 1)
            self.assertRaises(errors.RouteNotFound, match, route.method, path, before)
            # Another method of the path may be older.
            older = any(one.path == route.path and one.since <= before for one in ALL)
            refusal = exceptions.MethodNotAllowed if older else errors.RouteNotFound
            self.assertRaises(refusal, match, 'OPTIONS', path, before)

    def test_a_route_is_not_there_without_its_resource_type(self):
        left = {route.path for route in table()}
        for route in ALL:
            path = re.sub(r'\{\w+\}', '7', route.path)
            if route.noun == 'floatingips':
                with self.assertRaises(errors.RouteNotFound):
                    match(route.method, path, microversions.MAX, ())
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
            (rule,) = (one for one in policies.list_rules() if one.name == route.rule)
            operation = {'method': route.method, 'path': f'/v1{route.path}'}
            self.assertIn(operation, rule.operations)
