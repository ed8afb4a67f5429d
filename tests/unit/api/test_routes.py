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

"""The table of routes."""

from __future__ import annotations

import re

from climate import exceptions
from climate import policies
from climate.api import errors
from climate.api import microversions
from climate.api import routes
from tests import base


def named(method, path):
    """Return which controller and action answer, and the values in the path."""
    route, values = routes.match(method, path)
    return f'{route.controller}.{route.action}', values


class RoutesTest(base.TestCase):
    """Which route answers what."""

    def test_both_roots_and_a_trailing_slash(self):
        for path in ('/v1/leases', '/leases', '/v1/leases/', '/leases/'):
            self.assertEqual(('leases.index', ()), named('GET', path))

    def test_words_come_before_ids(self):
        self.assertEqual(('allocations.index', ()), named('GET', '/os-hosts/allocations'))
        self.assertEqual(('properties.index', ()), named('GET', '/os-hosts/properties'))
        self.assertEqual(('hosts.show', ('7',)), named('GET', '/os-hosts/7'))
        self.assertEqual(('allocations.show', ('7',)), named('GET', '/os-hosts/7/allocation'))
        self.assertRaises(
            exceptions.MethodNotAllowed, routes.match, 'DELETE', '/os-hosts/properties'
        )

    def test_a_property_may_hold_a_slash(self):
        self.assertEqual(
            ('properties.update', ('a/b',)), named('PATCH', '/v1/os-hosts/properties/a/b')
        )

    def test_head_is_get(self):
        self.assertEqual(('hosts.index', ()), named('HEAD', '/v1/os-hosts'))

    def test_unknown(self):
        for path in ('/nope', '/v1', '/v2/leases', '/v1/v1/leases', '/v1/leases/a/b', '//leases'):
            self.assertRaises(errors.RouteNotFound, routes.match, 'GET', path)

    def test_wrong_method(self):
        error = self.assertRaises(exceptions.MethodNotAllowed, routes.match, 'PATCH', '/leases')
        self.assertEqual({'GET', 'POST'}, error.facts['allowed'])

    def test_a_route_is_not_there_before_its_microversion(self):
        for route in routes.ROUTES:
            if route.since == microversions.MIN:
                continue
            before = microversions.Microversion(1, route.since.minor - 1)
            path = re.sub(r'\{\w+\}', '7', route.path)
            arguments = (route.method, path, before, {route.serves})
            self.assertRaises(errors.RouteNotFound, routes.match, *arguments)

    def test_a_route_is_not_there_without_its_resource_type(self):
        for route in routes.ROUTES:
            if route.serves:
                arguments = (route.method, re.sub(r'\{\w+\}', '7', route.path))
                self.assertRaises(errors.RouteNotFound, routes.match, *arguments)

    def test_each_route_is_guarded_by_a_rule_that_says_so(self):
        guarded = {
            (operation['method'], operation['path'])
            for rule in policies.list_rules()
            for operation in getattr(rule, 'operations', ())
        }
        self.assertEqual(guarded, {(route.method, f'/v1{route.path}') for route in routes.ROUTES})
