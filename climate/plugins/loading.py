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
    plugins = (
        installed(NAMESPACE, name, Plugin, conf, option='[DEFAULT] resource_types', noun='plugin')
        for name in dict.fromkeys(names)
    )
    return {plugin.resource_type: plugin for plugin in plugins}


def installed(namespace: str, name: str, base: Any, conf: Any, *, option: str, noun: str) -> Any:
    """Return what an installed package offers under a name, configured from *conf*.

    :param namespace: of the entry points
    :param base: what it has to be derived from
    :param option: that names it, for errors
    :param noun: what it is, for errors
    :raises climate.exceptions.ConfigurationError: if it cannot be used
    """
    what = f"{option}: '{name}'"
    try:
        kind: Any = driver.DriverManager(namespace, name, warn_on_missing_entrypoint=False).driver
    except exception.NoMatches as error:
        raise exceptions.ConfigurationError(f'{what} is not installed ({error})') from error
    is_derived = isinstance(kind, type) and issubclass(kind, base)
    if not is_derived:
        raise exceptions.ConfigurationError(f'{what} is not a {noun} of Climate')
    try:
        return kind.from_conf(conf)
    except Exception as error:
        raise exceptions.ConfigurationError(f'{what} cannot be used: {error}') from error
