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
    found = [each for each in declared if each is not None and each not in _ALWAYS]
    return [*_ALWAYS, *found]
