# SPDX-License-Identifier: Apache-2.0

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
        kind: Any = driver.DriverManager(NAMESPACE, name, warn_on_missing_entrypoint=False).driver
    except exception.NoMatches as error:
        raise exceptions.ConfigurationError(
            f"[DEFAULT] resource_types: '{name}' is not installed ({error})"
        ) from error
    if not (isinstance(kind, type) and issubclass(kind, Plugin)):
        raise exceptions.ConfigurationError(
            f"[DEFAULT] resource_types: '{name}' is not a plugin of Climate"
        )
    try:
        plugin = kind.from_conf(conf)
    except Exception as error:
        raise exceptions.ConfigurationError(
            f"[DEFAULT] resource_types: '{name}' cannot be used: {error}"
        ) from error
    return plugin
