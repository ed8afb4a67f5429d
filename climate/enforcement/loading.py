# SPDX-License-Identifier: Apache-2.0

"""Loads the configured filters; an invalid one stops the process."""

from __future__ import annotations

from typing import Any

from stevedore import driver
from stevedore import exception

from climate import exceptions
from climate.enforcement.base import Filter
from climate.enforcement.filters import Filters

NAMESPACE = 'climate.enforcement.filters'


def load(conf: Any) -> Filters:
    """Return the filters that ``[enforcement]`` lists, in the same order.

    :param conf: an oslo.config ConfigOpts
    :raises climate.exceptions.ConfigurationError: naming the filter that is not valid
    """
    names = dict.fromkeys(conf.enforcement.enabled_filters)
    return Filters({name: _load(name, conf) for name in names}, conf.enforcement.exempt_projects)


def _load(name: str, conf: Any) -> Filter:
    try:
        kind: Any = driver.DriverManager(NAMESPACE, name, warn_on_missing_entrypoint=False).driver
    except exception.NoMatches as error:
        raise exceptions.ConfigurationError(
            f"[enforcement] enabled_filters: '{name}' is not installed ({error})"
        ) from error
    if not (isinstance(kind, type) and issubclass(kind, Filter)):
        raise exceptions.ConfigurationError(
            f"[enforcement] enabled_filters: '{name}' is not a filter of Climate"
        )
    try:
        return kind.from_conf(conf)
    except Exception as error:
        raise exceptions.ConfigurationError(
            f"[enforcement] enabled_filters: '{name}' cannot be used: {error}"
        ) from error
