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

"""Loads the configured plugins; the process stops if one cannot be used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stevedore import driver
from stevedore import exception

from climate import exceptions
from climate.plugins.contract import Plugin

NAMESPACE = 'climate.resource_types'


def load(names: Iterable[str], conf: Any) -> dict[str, Plugin[Any]]:
    """Return the plugins of the resource types *names*, by type.

    :param conf: an oslo.config ConfigOpts
    :raises climate.exceptions.ConfigurationError: naming the one that cannot be used
    """
    plugins = {}
    for name in dict.fromkeys(names):
        plugin = _load(name, conf)
        plugins[plugin.resource_type] = plugin
    return plugins


def _load(name: str, conf: Any) -> Plugin[Any]:
    try:
        found: Any = driver.DriverManager(NAMESPACE, name, warn_on_missing_entrypoint=False).driver
    except exception.NoMatches as error:
        raise exceptions.ConfigurationError(
            f"[DEFAULT] resource_types: '{name}' is not installed ({error})"
        ) from error
    if not (isinstance(found, type) and issubclass(found, Plugin)):
        raise exceptions.ConfigurationError(
            f"[DEFAULT] resource_types: '{name}' is not a plugin of Climate"
        )
    try:
        plugin = found.from_conf(conf)
    except Exception as error:
        raise exceptions.ConfigurationError(
            f"[DEFAULT] resource_types: '{name}' cannot be used: {error}"
        ) from error
    return plugin
