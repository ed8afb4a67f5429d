# SPDX-License-Identifier: Apache-2.0

"""The table of all routes, and the controllers that serve them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from climate.api.controllers.allocations import AllocationsController
from climate.api.controllers.allocations import CollectionAllocationsController
from climate.api.controllers.availability import AvailabilityController
from climate.api.controllers.calendar import CalendarController
from climate.api.controllers.collections import CollectionController
from climate.api.controllers.feeds import FeedsController
from climate.api.controllers.leases import LeasesController
from climate.api.controllers.maintenances import MaintenancesController
from climate.api.controllers.me import MeController
from climate.api.controllers.offers import OffersController
from climate.api.controllers.properties import CollectionPropertiesController
from climate.api.controllers.properties import PropertiesController
from climate.api.controllers.queue import QueueController
from climate.api.controllers.resource_types import ResourceTypesController
from climate.api.controllers.resources import ResourcesController
from climate.api.controllers.usage import UsageController
from climate.api.controllers.webhooks import WebhooksController
from climate.api.routing.base import Controller
from climate.api.routing.routes import RouteTable
from climate.api.routing.services import ApiSettings
from climate.api.routing.services import Services
from climate.plugins.collections import served
from climate.resources.catalog import fixed

_CONTROLLERS: Final = (
    *(AllocationsController, AvailabilityController, CalendarController, FeedsController),
    *(LeasesController, MaintenancesController, MeController, OffersController),
    *(PropertiesController, ResourceTypesController, ResourcesController, UsageController),
    *(QueueController, WebhooksController),
)


def route_table(services: Services, settings: ApiSettings) -> RouteTable:
    """Return the routes of an API that serves the resource types of the plugins."""
    controllers = _controllers(services, settings)
    return RouteTable(route for each in controllers for route in each.routes())


def _controllers(services: Services, settings: ApiSettings) -> Iterator[Controller]:
    for cls in _CONTROLLERS:
        yield cls(services, settings)
    for each in served(fixed(services.plugins)):
        yield CollectionController(services, settings, each)
        if each.properties:
            yield CollectionAllocationsController(services, settings, each)
            yield CollectionPropertiesController(services, settings, each)
