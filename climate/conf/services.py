# SPDX-License-Identifier: Apache-2.0

"""Options of the connections to other services: sessions, adapters and credentials."""

from __future__ import annotations

from keystoneauth1 import loading as ks_loading
from oslo_config import cfg

# Group of options: service type in the catalogue. climate-power, which reads
# the last one, is a client of Climate itself.
SERVICES = {
    'cinder': 'block-storage',
    'glance': 'image',
    'heat': 'orchestration',
    'ironic': 'baremetal',
    'keystone': 'identity',
    'neutron': 'network',
    'nova': 'compute',
    'placement': 'placement',
    'power': 'reservation',
}
# By default, keystoneauth1 waits for a response indefinitely.
TIMEOUT = 30.0
CONNECT_RETRIES = 1


def connection_opts(group: str) -> list[cfg.Opt]:
    """Return the options of the session and the adapter of a service, with our defaults.

    :param group: one of SERVICES
    """
    interfaces = [cfg.DeprecatedOpt('endpoint_type', group=group)]
    opts: list[cfg.Opt] = [
        *ks_loading.get_session_conf_options(),
        *ks_loading.get_adapter_conf_options(
            include_deprecated=False, deprecated_opts={'valid-interfaces': interfaces}
        ),
    ]
    cfg.set_defaults(
        opts,
        timeout=TIMEOUT,
        connect_retries=CONNECT_RETRIES,
        service_type=SERVICES[group],
        valid_interfaces=['internal', 'public'],
    )
    return opts


def auth_opts() -> list[cfg.Opt]:
    """Return the options of password authentication, for the sample and the documentation.

    Other authentication types have other options, registered when they are chosen.
    """
    return [
        *ks_loading.get_auth_common_conf_options(),
        *ks_loading.get_auth_plugin_conf_options('password'),
    ]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    for group in SERVICES:
        conf.register_opts(connection_opts(group), group=group)
        ks_loading.register_auth_conf_options(conf, group)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {group: [*auth_opts(), *connection_opts(group)] for group in SERVICES}
