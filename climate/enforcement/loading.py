# SPDX-License-Identifier: Apache-2.0

"""Loads the configured filters; an invalid one stops the process."""

from __future__ import annotations

from typing import Any

from climate.enforcement.base import Filter
from climate.enforcement.filters import Filters
from climate.plugins import loading

NAMESPACE = 'climate.enforcement.filters'


def load(conf: Any) -> Filters:
    """Return the filters that ``[enforcement]`` lists, in the same order.

    :param conf: an oslo.config ConfigOpts
    :raises climate.exceptions.ConfigurationError: naming the filter that is not valid
    """
    options = conf.enforcement
    found = {
        name: loading.installed(
            NAMESPACE, name, Filter, conf, option='[enforcement] enabled_filters', noun='filter'
        )
        for name in dict.fromkeys(options.enabled_filters)
    }
    return Filters(found, options.exempt_projects)
