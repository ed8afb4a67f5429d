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

"""Every route of the API: the one table that requests and tests go by."""

from __future__ import annotations

import dataclasses
import re

from climate import exceptions
from climate.api import errors


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """A method on a path, and what answers it.

    :ivar path: below ``/v1`` and, for clients that know no version, below
        the root; a name in braces matches one segment
    :ivar controller: key of the controller in ``controllers.make``
    :ivar action: its method
    """

    method: str
    path: str
    controller: str
    action: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """The path as a regular expression."""
        # Property names are the operators' own and may hold a slash.
        path = self.path.replace('{property_name}', '(.+)')
        return re.compile(re.sub(r'\{\w+\}', '([^/]+)', path))


def _route(method: str, path: str, controller: str, action: str) -> Route:
    return Route(method=method, path=path, controller=controller, action=action)


# Of several that match, the first one answers: words come before ids.
ROUTES = (
    _route('GET', '/leases', 'leases', 'index'),
    _route('POST', '/leases', 'leases', 'create'),
    _route('GET', '/leases/{lease_id}', 'leases', 'show'),
    _route('PUT', '/leases/{lease_id}', 'leases', 'update'),
    _route('DELETE', '/leases/{lease_id}', 'leases', 'delete'),
    _route('GET', '/os-hosts/allocations', 'allocations', 'index'),
    _route('GET', '/os-hosts/properties', 'properties', 'index'),
    _route('PATCH', '/os-hosts/properties/{property_name}', 'properties', 'update'),
    _route('GET', '/os-hosts/{host_id}/allocation', 'allocations', 'show'),
    _route('GET', '/os-hosts', 'hosts', 'index'),
    _route('POST', '/os-hosts', 'hosts', 'create'),
    _route('GET', '/os-hosts/{host_id}', 'hosts', 'show'),
    _route('PUT', '/os-hosts/{host_id}', 'hosts', 'update'),
    _route('DELETE', '/os-hosts/{host_id}', 'hosts', 'delete'),
)

# Answered by middleware, without a token.
OPEN_ROUTES = ('/', '/versions', '/v1', '/healthcheck')

_PATTERNS = tuple((route, route.pattern) for route in ROUTES)
# A word in the place of an id is never an id, whatever the method.
_WORDS = frozenset(route.path for route in ROUTES if '{' not in route.path)


def match(method: str, path: str) -> tuple[Route, tuple[str, ...]]:
    """Return the route of a request, and the values in its path.

    :param path: without the public prefix, decoded
    :raises climate.api.errors.RouteNotFound: if no route has the path
    :raises climate.exceptions.MethodNotAllowed: if none has the method
    """
    path = path.rstrip('/')
    if path.startswith('/v1/'):
        path = path.removeprefix('/v1')
    wanted = 'GET' if method == 'HEAD' else method
    allowed = set()
    for route, pattern in _PATTERNS:
        found = pattern.fullmatch(path)
        if found is None or (path in _WORDS and route.path != path):
            continue
        if route.method == wanted:
            return route, found.groups()
        allowed.add(route.method)
    if not allowed:
        raise errors.RouteNotFound
    raise exceptions.MethodNotAllowed(allowed=allowed)
