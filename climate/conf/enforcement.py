# SPDX-License-Identifier: Apache-2.0

"""Options of the filters that allow or refuse leases."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'enforcement'
REFUSE = 'refuse'
ALLOW = 'allow'


def _endpoint(name: str, text: str) -> cfg.Opt:
    path = name.replace('_', '-')
    return cfg.URIOpt(
        f'external_service_{name}_endpoint',
        schemes=['http', 'https'],
        help=f'For external_service: {text} By default, {path} below the base URL.',
    )


OPTS: list[cfg.Opt] = [
    cfg.ListOpt(
        'enabled_filters',
        default=[],
        help='Filters that check new and changed leases, in this order, by the names of their '
        'entry points in climate.enforcement.filters: max_lease_duration, extension_window, '
        'external_service, and those of other packages. A filter that is unknown or cannot be '
        'loaded stops the process.',
    ),
    cfg.ListOpt(
        'exempt_projects', default=[], help='Ids of the projects whose leases no filter checks.'
    ),
    cfg.IntOpt(
        'max_lease_duration',
        default=-1,
        min=-1,
        help='For max_lease_duration: maximum duration of a lease, in seconds. -1 sets no limit.',
    ),
    cfg.ListOpt(
        'max_lease_duration_exempt_project_ids',
        default=[],
        help='For max_lease_duration: ids of the projects without this limit.',
    ),
    cfg.IntOpt(
        'reservation_extension_window',
        default=-1,
        min=-1,
        help='For extension_window: a lease can only be prolonged in this many seconds before its '
        'end. -1 sets no limit.',
    ),
    cfg.URIOpt(
        'external_service_base_endpoint',
        schemes=['http', 'https'],
        help='For external_service: base URL of the service, to which check-create, check-update, '
        'on-end, commit and release are appended.',
    ),
    _endpoint('check_create', 'URL that checks new leases.'),
    _endpoint('check_update', 'URL that checks changes.'),
    _endpoint('on_end', 'URL notified of the end of a lease.'),
    _endpoint('commit', 'URL notified when an allowed lease or change is booked.'),
    _endpoint(
        'release', 'URL notified when an allowed lease or change is not booked or is undone.'
    ),
    cfg.StrOpt(
        'external_service_token',
        secret=True,
        default='',
        help='For external_service: value of the X-Auth-Token header.',
    ),
    cfg.StrOpt(
        'external_service_cafile',
        help='For external_service: file with the CA certificates that verify the service over '
        'https. Those of the system by default.',
    ),
    cfg.FloatOpt(
        'external_service_timeout',
        default=10.0,
        min=0.05,
        max=300.0,
        help='For external_service: time limit, in seconds, for a connection and then for an '
        'answer. Clients that create or change a lease wait this long.',
    ),
    cfg.StrOpt(
        'external_service_unavailable',
        default=REFUSE,
        choices=[
            (REFUSE, 'The lease is refused.'),
            (ALLOW, 'The lease is allowed; the service is notified when it is back.'),
        ],
        help='For external_service: outcome for a lease if the service does not answer in time, '
        'or gives an invalid answer.',
    ),
    cfg.BoolOpt(
        'external_service_two_phase',
        default=True,
        help='For external_service: whether the service is notified afterwards, by commit or '
        'release, of the outcome of each lease and change that it allowed. Set it to false for a '
        'service that charges when it is asked and only supports check-create, check-update and '
        'on-end.',
    ),
    cfg.StrOpt(
        'auth_url', help='For external_service: URL of Keystone, sent in the context of each call.'
    ),
    cfg.StrOpt(
        'region_name',
        help='For external_service: region of this Climate, sent in the context of each call.',
    ),
]
