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

"""The root: every route is an attribute of a controller below it."""

from __future__ import annotations

import pecan

from climate.api.controllers import collections
from climate.api.controllers.availability import AvailabilityController
from climate.api.controllers.base import Controller
from climate.api.controllers.calendar import CalendarController
from climate.api.controllers.feeds import FeedsController
from climate.api.controllers.leases import LeasesController
from climate.api.controllers.maintenances import MaintenancesController
from climate.api.controllers.me import MeController
from climate.api.controllers.offers import OffersController
from climate.api.controllers.resource_types import ResourceTypesController
from climate.api.controllers.resources import ResourcesController
from climate.api.controllers.usage import UsageController
from climate.api.controllers.webhooks import WebhooksController
from climate.api.services import ApiSettings
from climate.api.services import Services
from climate.plugins.collections import served
from climate.resources.catalog import fixed


class V1Controller(Controller):
    """``/v1``."""

    def __init__(self, services: Services, settings: ApiSettings) -> None:
        super().__init__(services, settings)
        self.availability = AvailabilityController(services, settings)
        self.calendar = CalendarController(services, settings)
        self.feeds = FeedsController(services, settings)
        self.leases = LeasesController(services, settings)
        self.maintenances = MaintenancesController(services, settings)
        self.me = MeController(services, settings)
        self.offers = OffersController(services, settings)
        self.resources = ResourcesController(services, settings)
        self.webhooks = WebhooksController(services, settings)
        self.usage = UsageController(services, settings)
        pecan.route(self, 'resource-types', ResourceTypesController(services, settings))
        for each in served(fixed(services.plugins)):
            pecan.route(self, each.path, collections.controller(each, services, settings))


class RootController(V1Controller):
    """``/``: the routes of ``/v1`` again, for clients that add no version to the endpoint."""

    def __init__(self, services: Services, settings: ApiSettings) -> None:
        super().__init__(services, settings)
        self.v1 = V1Controller(services, settings)
