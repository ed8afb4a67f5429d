# SPDX-License-Identifier: Apache-2.0

"""Reads what pages print of configuration files as the service reads them.

Each function takes a file and raises an exception if the service would refuse it, or
would take no notice of a line.
"""

from __future__ import annotations

import configparser
import functools
import importlib.metadata
import pathlib
from collections.abc import Callable
from typing import Any

import yaml
from keystoneauth1 import loading
from oslo_config import cfg
from oslo_policy import policy

from climate.cmd import config
from climate.cmd import custom_types
from climate.policies import list_rules
from climate.power import hosts

# The libraries whose options may be set in the same file, see configuration/index.rst.
LIBRARIES = (
    'oslo.db',
    'oslo.messaging',
    'oslo.middleware.cors',
    'oslo.middleware.healthcheck',
    'oslo.middleware.http_proxy_to_wsgi',
    'oslo.policy',
    'keystonemiddleware.auth_token',
)


class UnknownOption(Exception):
    """An option that nothing reads."""


@functools.cache
def _options() -> dict[str, list[tuple[Any, list[Any]]]]:
    """Return the groups and options of each library, by its name."""
    entries = importlib.metadata.entry_points(group='oslo.config.opts')
    return {entry.name: entry.load()() for entry in entries if entry.name in LIBRARIES}


def _conf() -> cfg.ConfigOpts:
    conf = config.new_conf()
    for groups in _options().values():
        for group, options in groups:
            conf.register_opts(options, group=group or 'DEFAULT')
    return conf


def climate_conf(path: pathlib.Path) -> None:
    """Read options of Climate, and of the libraries that it configures.

    :raises UnknownOption: naming the option
    :raises oslo_config.cfg.ConfigFileValueError: if a value is none
    """
    parser = configparser.RawConfigParser(strict=False, default_section='-')
    parser.read(path)
    conf = _conf()
    conf([], default_config_files=[str(path)], default_config_dirs=[])
    for section in parser.sections():
        _register_login(conf, parser, section)
        known = conf if section == 'DEFAULT' else _group(conf, section)
        for name in parser[section]:
            try:
                known[name.replace('-', '_')]
            except cfg.NoSuchOptError:
                raise UnknownOption(f'[{section}] {name}') from None


def _group(conf: cfg.ConfigOpts, name: str) -> Any:
    try:
        return conf[name]
    except cfg.NoSuchOptError:
        raise UnknownOption(f'[{name}]') from None


def _register_login(
    conf: cfg.ConfigOpts, parser: configparser.RawConfigParser, section: str
) -> None:
    """Register the options that an ``auth_type`` brings."""
    kind = parser[section].get('auth_type')
    if kind:
        conf.register_opts(loading.get_auth_plugin_conf_options(kind), group=section)


def policy_yaml(path: pathlib.Path) -> None:
    """Read rules of Climate's policy.

    :raises UnknownOption: naming the rule
    """
    known = {rule.name for rule in list_rules()}
    rules = policy.Rules.load(path.read_text(encoding='utf-8'))
    for name, check in rules.items():
        if name not in known:
            raise UnknownOption(name)
        # What cannot be parsed becomes a rule that nobody passes.
        if str(check) == '!':
            raise UnknownOption(f'{name}: {check}')


def types_yaml(path: pathlib.Path) -> None:
    """Read declared types.

    :raises climate.exceptions.ConfigurationError: if they are not as they should be
    """
    assert custom_types.read(str(path))


def power_hosts_yaml(path: pathlib.Path) -> None:
    """Read the hosts of climate-power.

    :raises climate.exceptions.ConfigurationError: if they are not as they should be
    """
    text = path.read_text(encoding='utf-8').replace('/etc/climate', str(path.parent))
    path.write_text(text)
    for name in ('bmc-password', 'bmc-ca.pem'):
        (path.parent / name).write_text('secret')
    assert len(hosts.read(str(path))) == len(yaml.safe_load(text)['hosts'])


READERS: dict[str, Callable[[pathlib.Path], None]] = {
    'climate.conf': climate_conf,
    'policy.yaml': policy_yaml,
    'types.yaml': types_yaml,
    'power-hosts.yaml': power_hosts_yaml,
}
