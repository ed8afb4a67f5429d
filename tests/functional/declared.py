# SPDX-License-Identifier: Apache-2.0

"""The plugins that this tree declares, whatever of them is installed."""

from __future__ import annotations

import configparser
import importlib
import re
from collections.abc import Mapping
from typing import Any

from oslo_config import cfg

from climate import conf as climate_conf
from climate.plugins import loading
from climate.plugins.contract import Plugin
from tests.architecture import ROOT


def places() -> Mapping[str, str]:
    """Return where plugins are, by the names of their entry points in setup.cfg."""
    parser = configparser.ConfigParser(delimiters=('=',))
    parser.read(ROOT / 'setup.cfg')
    lines = parser['entry_points'][loading.NAMESPACE].split('\n')
    return dict(re.split(r'\s*=\s*', line, maxsplit=1) for line in lines if line)


def plugins() -> dict[str, Plugin[Any]]:
    """Return all of them by resource type, as they are unless configured otherwise."""
    conf = cfg.ConfigOpts()
    climate_conf.register_opts(conf)
    conf([])
    found = {}
    for place in places().values():
        module, _, name = place.partition(':')
        plugin = getattr(importlib.import_module(module), name).from_conf(conf)
        found[plugin.resource_type] = plugin
    return found
