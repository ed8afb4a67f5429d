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

"""Options of what Climate does with Nova, and how it gets there."""

from __future__ import annotations

from keystoneauth1 import loading as ks_loading
from oslo_config import cfg

GROUP = 'nova'
TIMEOUT = 30.0
CONNECT_RETRIES = 1

OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'aggregate_freepool_name',
        default='freepool',
        help='Name of the aggregate that holds the reservable hosts while they are not leased. '
        'The scheduler filter in Nova has to be told the same name.',
    ),
    cfg.StrOpt(
        'image_prefix',
        default='reserved_',
        help='Prefix of the names of images that are made of servers before a lease ends; the '
        'rest is the name of the server.',
    ),
    cfg.BoolOpt(
        'az_aware',
        default=True,
        help='Whether the availability zone of a host is looked up when it is registered.',
    ),
    cfg.StrOpt(
        'compute_api_microversion',
        default='2.53',
        regex=r'^2\.\d+$',
        help='Microversion of the compute API in which hypervisors, services and aggregates are '
        'asked for: from 2.53, for older ones have no unique ids of hypervisors, to 2.87, for '
        'newer ones do not tell their sizes. Other things are asked for in fixed ones.',
    ),
]


def service_opts(group: str, service_type: str) -> list[cfg.Opt]:
    """Return the options of sessions and adapters, with defaults of our own.

    The libraries wait for ever for an answer unless they are told not to.
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
        service_type=service_type,
        valid_interfaces=['internal', 'public'],
    )
    return opts


def auth_opts() -> list[cfg.Opt]:
    """Return the options of the usual way to authenticate, by password.

    Other ways have other options, which are registered when they are chosen.
    """
    return [
        *ks_loading.get_auth_common_conf_options(),
        *ks_loading.get_auth_plugin_conf_options('password'),
    ]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    conf.register_opts(OPTS, group=GROUP)
    conf.register_opts(service_opts(GROUP, 'compute'), group=GROUP)
    ks_loading.register_auth_conf_options(conf, GROUP)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {GROUP: [*OPTS, *auth_opts(), *service_opts(GROUP, 'compute')]}
