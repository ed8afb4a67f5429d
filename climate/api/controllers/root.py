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

"""The root: hands each request to the controller the route table names."""

from __future__ import annotations

from typing import Any

import pecan

from climate.api import routes
from climate.api.controllers.allocations import AllocationsController
from climate.api.controllers.base import Controller
from climate.api.controllers.floatingips import FloatingIPsController
from climate.api.controllers.hosts import HostsController
from climate.api.controllers.leases import LeasesController
from climate.api.controllers.maintenances import MaintenancesController
from climate.api.controllers.properties import PropertiesController
from climate.api.controllers.resource_types import ResourceTypesController
from climate.api.controllers.resources import ResourcesController
from climate.api.services import ApiSettings
from climate.api.services import Services


class RootController:
    """Finds controllers by the table instead of by attribute names.

    The table is also what the tests of who may do what go by, so a route
    cannot exist without a line there.
    """

    def __init__(self, services: Services, settings: ApiSettings) -> None:
        self._served = services.plugins
        self._controllers: dict[str, Controller] = {
            'allocations': AllocationsController(services, settings),
            'floatingips': FloatingIPsController(services, settings),
            'hosts': HostsController(services, settings),
            'leases': LeasesController(services, settings),
            'maintenances': MaintenancesController(services, settings),
            'properties': PropertiesController(services, settings),
            'resource_types': ResourceTypesController(services, settings),
            'resources': ResourcesController(services, settings),
        }

    @pecan.expose()
    def _route(self, args: list[str], request: Any) -> tuple[Any, list[str]]:
        route, values = routes.match(
            request.method,
            request.path_info,
            request.environ['climate.microversion'],
            self._served,
        )
        return getattr(self._controllers[route.controller], route.action), list(values)
