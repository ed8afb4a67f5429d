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
from collections.abc import Collection
from typing import Any

from climate import exceptions
from climate.api import errors
from climate.api.microversions import MAX
from climate.api.microversions import Microversion
from climate.api.microversions import MIN
from climate.api.microversions import V1_2
from climate.api.microversions import V1_3

FLOATING_IP = 'virtual:floatingip'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """A method on a path, and what answers it.

    :ivar path: below ``/v1`` and, for clients that know no version, below
        the root; a name in braces matches one segment
    :ivar controller: key of the controller in ``controllers.make``
    :ivar action: its method
    :ivar since: the microversion that brought it; older ones do not know it
    :ivar serves: a resource type without which there is no such route; ''
        for one that is always there
    """

    method: str
    path: str
    controller: str
    action: str
    since: Microversion = MIN
    serves: str = ''

    @property
    def pattern(self) -> re.Pattern[str]:
        """The path as a regular expression."""
        # Property names are the operators' own and may hold a slash.
        path = self.path.replace('{property_name}', '(.+)')
        return re.compile(re.sub(r'\{\w+\}', '([^/]+)', path))


def _route(method: str, path: str, controller: str, action: str, **facts: Any) -> Route:
    return Route(method=method, path=path, controller=controller, action=action, **facts)


# Of several that match, the first one answers: words come before ids.
ROUTES = (
    _route('GET', '/leases', 'leases', 'index'),
    _route('POST', '/leases', 'leases', 'create'),
    _route('GET', '/leases/{lease_id}', 'leases', 'show'),
    _route('PUT', '/leases/{lease_id}', 'leases', 'update'),
    _route('DELETE', '/leases/{lease_id}', 'leases', 'delete'),
    _route('POST', '/leases/{lease_id}/reallocate', 'leases', 'reallocate', since=V1_2),
    _route('GET', '/leases/{lease_id}/history', 'leases', 'history', since=V1_3),
    _route('POST', '/leases/{lease_id}/readiness', 'leases', 'say', since=V1_3),
    _route('GET', '/os-hosts/allocations', 'allocations', 'index'),
    _route('GET', '/os-hosts/properties', 'properties', 'index'),
    _route('PATCH', '/os-hosts/properties/{property_name}', 'properties', 'update'),
    _route('GET', '/os-hosts/{host_id}/allocation', 'allocations', 'show'),
    _route('GET', '/os-hosts', 'hosts', 'index'),
    _route('POST', '/os-hosts', 'hosts', 'create'),
    _route('GET', '/os-hosts/{host_id}', 'hosts', 'show'),
    _route('PUT', '/os-hosts/{host_id}', 'hosts', 'update'),
    _route('DELETE', '/os-hosts/{host_id}', 'hosts', 'delete'),
    _route('GET', '/maintenances', 'maintenances', 'index', since=V1_2),
    _route('POST', '/maintenances', 'maintenances', 'create', since=V1_2),
    _route('GET', '/maintenances/{maintenance_id}', 'maintenances', 'show', since=V1_2),
    _route('DELETE', '/maintenances/{maintenance_id}', 'maintenances', 'delete', since=V1_2),
    _route('GET', '/floatingips', 'floatingips', 'index', serves=FLOATING_IP),
    _route('POST', '/floatingips', 'floatingips', 'create', serves=FLOATING_IP),
    _route('GET', '/floatingips/{floatingip_id}', 'floatingips', 'show', serves=FLOATING_IP),
    _route('DELETE', '/floatingips/{floatingip_id}', 'floatingips', 'delete', serves=FLOATING_IP),
    _route('GET', '/resource-types', 'resource_types', 'index', since=V1_2),
    _route('POST', '/resource-types', 'resource_types', 'create', since=V1_2),
    _route('GET', '/resource-types/{type_name}', 'resource_types', 'show', since=V1_2),
    _route('PUT', '/resource-types/{type_name}', 'resource_types', 'update', since=V1_2),
    _route('DELETE', '/resource-types/{type_name}', 'resource_types', 'delete', since=V1_2),
    _route('GET', '/resources/allocations', 'allocations', 'index_any', since=V1_2),
    _route('GET', '/resources/properties', 'properties', 'index_any', since=V1_2),
    _route(
        'PATCH', '/resources/properties/{property_name}', 'properties', 'update_any', since=V1_2
    ),
    _route('GET', '/resources/{resource_id}/allocations', 'allocations', 'show_any', since=V1_2),
    _route('GET', '/resources', 'resources', 'index', since=V1_2),
    _route('POST', '/resources', 'resources', 'create', since=V1_2),
    _route('GET', '/resources/{resource_id}', 'resources', 'show', since=V1_2),
    _route('PUT', '/resources/{resource_id}', 'resources', 'update', since=V1_2),
    _route('DELETE', '/resources/{resource_id}', 'resources', 'delete', since=V1_2),
)

# Answered by middleware, without a token.
OPEN_ROUTES = ('/', '/versions', '/v1', '/healthcheck')

_PATTERNS = tuple((route, route.pattern) for route in ROUTES)
# A word in the place of an id is never an id, whatever the method.
_WORDS = frozenset(route.path for route in ROUTES if '{' not in route.path)


def match(
    method: str,
    path: str,
    version: Microversion = MAX,
    served: Collection[str] = (),
) -> tuple[Route, tuple[str, ...]]:
    """Return the route of a request, and the values in its path.

    :param path: without the public prefix, decoded
    :param version: what the request speaks
    :param served: the resource types that are served
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
        if route.since > version or (route.serves and route.serves not in served):
            continue
        if route.method == wanted:
            return route, found.groups()
        allowed.add(route.method)
    if not allowed:
        raise errors.RouteNotFound
    raise exceptions.MethodNotAllowed(allowed=allowed)
