# SPDX-License-Identifier: Apache-2.0

"""Configurations that no file has a part in."""

from __future__ import annotations

from typing import Any

from oslo_config import cfg

from climate.cmd import config


def configured(group: str | None = None, **values: Any) -> cfg.ConfigOpts:
    """Return a configuration with every option, some of which a group has other values of."""
    conf = config.new_conf()
    conf([], project='climate', default_config_files=[])
    for name, value in values.items():
        conf.set_override(name, value, group=group)
    return conf
