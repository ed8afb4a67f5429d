# SPDX-License-Identifier: Apache-2.0

"""Options of the HTTP API."""

from __future__ import annotations

import ipaddress
from typing import Any

from oslo_config import cfg
from oslo_config import types
from oslo_middleware import cors
from oslo_middleware import http_proxy_to_wsgi

GROUP = 'api'


class CidrType(types.ConfigType):
    """A network in CIDR notation, such as ``192.0.2.0/24``."""

    def __init__(self, type_name: str = 'network value') -> None:
        super().__init__(type_name=type_name)

    def __call__(self, value: Any) -> str:
        """Return the network in CIDR notation.

        :raises ValueError: if *value* is not a network
        """
        return str(ipaddress.ip_network(value))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CidrType)

    __hash__ = types.ConfigType.__hash__

    def __repr__(self) -> str:
        return 'Network'

    def _formatter(self, value: Any) -> str:
        return str(value)


DEFAULT_OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'auth_strategy',
        default='keystone',
        choices=[
            ('keystone', 'tokens are validated by Keystone'),
            ('noauth', 'callers are trusted: for trials and tests only'),
        ],
        help='How the API authenticates callers. With noauth the token is user:project:role,role; '
        'an empty or missing token means an administrator of the project demo.',
    )
]

OPTS: list[cfg.Opt] = [
    cfg.IntOpt(
        'max_request_body_size',
        default=114688,
        min=1024,
        help='Maximum size of a request body, in bytes. Larger requests get status 413.',
    ),
    cfg.IntOpt(
        'max_reservations_per_lease',
        default=20,
        min=1,
        max=100,
        help='Maximum number of reservations in one request for a lease. Larger requests get '
        'status 400. Raise it where leases combine many kinds of resources; each reservation '
        'costs a search.',
    ),
    cfg.ListOpt(
        'trusted_proxies',
        default=['127.0.0.0/8', '::1/128'],
        item_type=CidrType(),
        help='Networks of the proxies in front of the API, in CIDR notation. X-Forwarded-For, '
        '-Proto, -Host and -Prefix, and Forwarded, are trusted from these addresses and removed '
        'from all other requests. Set it if a proxy runs on another machine.',
    ),
    cfg.ListOpt(
        'allowed_hosts',
        default=[],
        help='Names under which an API without authentication (auth_strategy = noauth) answers, '
        'besides localhost and IP addresses; * allows all. It refuses requests with other names '
        'in Host, since a page in a browser could reach it by a name of its own site.',
    ),
    cfg.IntOpt(
        'max_limit',
        default=1000,
        min=1,
        help='Maximum number of leases or resources on one page of a list, from microversion 1.1 '
        'on.',
    ),
    cfg.IntOpt(
        'max_wait',
        default=30,
        min=0,
        max=600,
        help='How long a request with the header "Prefer: wait=N" waits for its lease at most, in '
        'seconds. Larger N are lowered to this; 0 ignores the header. It must be shorter than the '
        'timeouts of proxies in front of the API.',
    ),
    cfg.IntOpt(
        'max_waiting_requests',
        default=2,
        min=0,
        help='How many requests of one API process wait for their leases at once, at most half of '
        'them (but at least one) of one project. Each takes a thread of the process, so this '
        'must be lower than the number of threads. Further requests are answered at once, as if '
        'they had no preference.',
    ),
    cfg.IntOpt(
        'threads',
        default=8,
        min=1,
        help='Number of threads of each API process that carry out requests: that of the WSGI '
        'server, such as --threads of gunicorn. climate-api starts so many.',
    ),
    cfg.FloatOpt(
        'project_share',
        default=0.25,
        min=0.01,
        max=1.0,
        help='Share of the threads of an API process that the requests of one project use at '
        'most, but at least 2 threads; 1 for no limit. Operators and services use half of the '
        'threads together, requests without a token this share together.',
    ),
    cfg.FloatOpt(
        'share_wait',
        default=1.0,
        min=0.0,
        max=30.0,
        help='How long a request waits for others of its project, in seconds, before it gets '
        'status 429 and a Retry-After header. It waits only while a quarter of the threads is '
        'free for others.',
    ),
    cfg.StrOpt(
        'opaque_id_secret',
        secret=True,
        default='',
        help='Secret from which calendars derive the ids of reservations of other projects. All '
        'API processes need the same value. By default they share a random secret that the first '
        'process writes to the database. Changing the secret only changes these ids.',
    ),
]


def set_middleware_defaults() -> None:
    """Set the defaults of oslo.middleware's options for this API.

    Changes the option objects, so that the sample configuration and the documentation
    show these defaults, too.
    """
    cors.set_defaults(
        allow_headers=[
            'Content-Type',
            'Idempotency-Key',
            'If-Match',
            'If-None-Match',
            'OpenStack-API-Version',
            'Prefer',
            'X-Auth-Token',
            'X-Openstack-Request-Id',
        ],
        expose_headers=[
            'Content-Location',
            'ETag',
            'Idempotency-Replayed',
            'OpenStack-API-Version',
            'Preference-Applied',
            'Retry-After',
            'X-Openstack-Request-Id',
        ],
        allow_methods=['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    )
    # Version documents must contain the public prefix. The headers that define it
    # affect only the links in the response to the same caller.
    cfg.set_defaults(http_proxy_to_wsgi.OPTS, enable_proxy_headers_parsing=True)


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    set_middleware_defaults()
    conf.register_opts(DEFAULT_OPTS)
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    set_middleware_defaults()
    return {'DEFAULT': DEFAULT_OPTS, GROUP: OPTS}
