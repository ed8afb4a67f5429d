# SPDX-License-Identifier: Apache-2.0

"""The routes of the API, for tests that compare other lists with them."""

from __future__ import annotations

import types
from typing import Any

from climate.api.controllers.table import route_table
from climate.api.routing.routes import RouteTable
from climate.plugins.contract import Plugin
from climate.plugins.floating_ip.plugin import FloatingIP

TYPES = {FloatingIP.resource_type: FloatingIP}


def table(*served: str) -> RouteTable:
    """Return the routes of an API that serves hosts and other resource types."""
    plugins: dict[str, type[Plugin[Any]]] = {name: TYPES[name] for name in served}
    services: Any = types.SimpleNamespace(plugins=plugins)
    settings: Any = None
    return route_table(services, settings)


ALL = tuple(table(*TYPES))
