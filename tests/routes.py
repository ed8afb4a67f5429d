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

"""The routes of the API, for tests that compare other lists with them."""

from __future__ import annotations

import types
from typing import Any

from climate.api import routes
from climate.api.controllers.root import RootController
from climate.plugins.contract import Plugin
from climate.plugins.floating_ip.plugin import FloatingIP

TYPES = {FloatingIP.resource_type: FloatingIP}


def root(*served: str) -> RootController:
    """Return the controllers of an API that serves hosts and other resource types."""
    plugins: dict[str, type[Plugin[Any]]] = {name: TYPES[name] for name in served}
    services: Any = types.SimpleNamespace(plugins=plugins)
    settings: Any = None
    return RootController(services, settings)


ALL = tuple(routes.walk(root(*TYPES).v1))
