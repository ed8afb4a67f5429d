# SPDX-License-Identifier: Apache-2.0

"""The OpenAPI document of all resource types that Climate ships; prints it if run."""

from __future__ import annotations

import json
import sys
import types
from importlib import metadata
from typing import Any

from climate.api.controllers.table import route_table
from climate.api.http import microversions
from climate.api.http.microversions import Microversion
from climate.api.openapi.document import DocumentWriter
from climate.api.routing.routes import RouteTable

_PACKAGE = 'openstack-climate'
_GROUP = 'climate.resource_types'


def plugins() -> Any:
    """Return the classes of the shipped resource types, by name."""
    return {
        one.name: one.load()
        for one in sorted(metadata.entry_points(group=_GROUP), key=lambda one: one.name)
        if one.dist is not None and one.dist.name == _PACKAGE
    }


def table() -> RouteTable:
    """Return the routes of an API that serves every shipped type."""
    services: Any = types.SimpleNamespace(plugins=plugins())
    settings: Any = None
    return route_table(services, settings)


def writer() -> DocumentWriter:
    """Return what describes that API."""
    return DocumentWriter(table(), plugins())


def document(version: Microversion = microversions.MAX) -> dict[str, Any]:
    """Return the document at a microversion."""
    return writer().document(version)


def main() -> int:
    """Print the document at the newest microversion, or at the one that is given."""
    version = microversions.MAX
    if sys.argv[1:]:
        major, _, minor = sys.argv[1].partition('.')
        version = Microversion(int(major), int(minor))
    print(json.dumps(document(version), indent=1))
    return 0


if __name__ == '__main__':
    sys.exit(main())
