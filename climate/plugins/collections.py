# SPDX-License-Identifier: Apache-2.0

"""The collections of the API that resource types declare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.plugins.collection import ResourceCollection
from climate.plugins.contract import Plugin
from climate.plugins.host.collection import HOSTS

# Clients expect the route of hosts from every service, even one that leases none.
_ALWAYS: Final = (HOSTS,)


def served(plugins: Mapping[str, Plugin[Any]]) -> list[ResourceCollection]:
    """Return the collections of an API that serves *plugins*."""
    declared = (plugin.collection for plugin in plugins.values())
    others = [each for each in declared if each is not None and each not in _ALWAYS]
    return [*_ALWAYS, *others]
