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

"""Options of the limits that leases are held to."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'enforcement'
REFUSE = 'refuse'
ALLOW = 'allow'

OPTS: list[cfg.Opt] = [
    cfg.ListOpt(
        'enabled_filters',
        default=[],
        help='The filters that judge new and changed leases, in this order, by the names of '
        'their entry points in climate.enforcement.filters: max_lease_duration, '
        'extension_window, external_service, and those of other packages. One that is unknown '
        'or cannot be loaded stops the process.',
    ),
    cfg.ListOpt(
        'exempt_projects',
        default=[],
        help='Ids of the projects whose leases no filter judges.',
    ),
    cfg.IntOpt(
        'max_lease_duration',
        default=-1,
        min=-1,
        help='For max_lease_duration: how long a lease may last, in seconds. -1 sets no limit.',
    ),
    cfg.ListOpt(
        'max_lease_duration_exempt_project_ids',
        default=[],
        help='For max_lease_duration: ids of the projects whose leases may last for any time.',
    ),
    cfg.IntOpt(
        'reservation_extension_window',
        default=-1,
        min=-1,
        help='For extension_window: the last so many seconds of a lease are those in which it '
        'may be prolonged. -1 sets no limit.',
    ),
]

SERVICE_OPTS: list[cfg.Opt] = [
    cfg.URIOpt(
        'external_service_base_endpoint',
        schemes=['http', 'https'],
        help='For external_service: where the service is. check-create, check-update, on-end, '
        'commit and release are appended.',
    ),
    cfg.URIOpt(
        'external_service_check_create_endpoint',
        schemes=['http', 'https'],
        help='For external_service: the address asked about new leases, if it is another.',
    ),
    cfg.URIOpt(
        'external_service_check_update_endpoint',
        schemes=['http', 'https'],
        help='For external_service: the address asked about changes, if it is another.',
    ),
    cfg.URIOpt(
        'external_service_on_end_endpoint',
        schemes=['http', 'https'],
        help='For external_service: the address told of ends, if it is another.',
    ),
    cfg.URIOpt(
        'external_service_commit_endpoint',
        schemes=['http', 'https'],
        help='For external_service: the address told that what was allowed is booked, if it is '
        'another.',
    ),
    cfg.URIOpt(
        'external_service_release_endpoint',
        schemes=['http', 'https'],
        help='For external_service: the address told that what was allowed did not come about '
        'or was undone, if it is another.',
    ),
    cfg.StrOpt(
        'external_service_token',
        secret=True,
        default='',
        help='For external_service: what is sent as X-Auth-Token.',
    ),
    cfg.StrOpt(
        'external_service_cafile',
        help='For external_service: a file of the certificate authorities that it is trusted '
        'by, if it is reached over https and not trusted by those that the system knows.',
    ),
    cfg.FloatOpt(
        'external_service_timeout',
        default=10.0,
        min=0.05,
        max=300.0,
        help='For external_service: how many seconds to wait for a connection, and then for an '
        'answer. Whoever creates or changes a lease waits as long.',
    ),
    cfg.StrOpt(
        'external_service_unavailable',
        default=REFUSE,
        choices=[
            (REFUSE, 'The lease is refused.'),
            (ALLOW, 'The lease is allowed; the service is told of it when it is back.'),
        ],
        help='For external_service: what becomes of a lease if the service does not answer in '
        'time, or not as agreed.',
    ),
    cfg.BoolOpt(
        'external_service_two_phase',
        default=True,
        help='For external_service: whether the service is told afterwards, by commit or '
        'release, what came of each lease and change that it allowed. A service that charges '
        'when it is asked, and knows no more than check-create, check-update and on-end, needs '
        'this to be false.',
    ),
    cfg.StrOpt(
        'auth_url',
        help='For external_service: the address of Keystone, as the service is told it in the '
        'context of each call.',
    ),
    cfg.StrOpt(
        'region_name',
        help='For external_service: the region of this Climate, as the service is told it in '
        'the context of each call.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    conf.register_opts([*OPTS, *SERVICE_OPTS], group=GROUP)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {GROUP: [*OPTS, *SERVICE_OPTS]}
