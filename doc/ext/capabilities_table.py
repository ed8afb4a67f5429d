# SPDX-License-Identifier: Apache-2.0

"""The table of what each capability of the API is called elsewhere.

The routes are those of the code; a test checks that each has a row here, and that the
commands and methods exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from typing import NamedTuple

_OWN: Final = '``OS::Climate::Lease``'
_LEASE: Final = '``OS::Climate::Lease``, ``OS::Blazar::Lease``'
_HOST: Final = '``OS::Blazar::Host``'
_OPERATORS: Final = '— operators use commands'
_NO_STATE: Final = '— templates declare objects, and this is a question or an action'
_NOT_IN_HEAT: Final = '— Heat has no such resource'
_OTHER_VIEW: Final = '— the page uses the same objects under ``/resources``'
_SAME: Final = '— the commands use the same objects under ``/resources``'
_COMMANDS: Final = '— users use commands'
_DRAWN: Final = '— the page uses ``/calendar``'
_HEAD: Final = ('Request', 'Command', 'Method', 'Page', 'Heat')


class Capability(NamedTuple):
    """Where else a request of the API can be made.

    A cell that begins with a dash says why there is nothing.

    :ivar commands: of openstack; several are separated by commas
    :ivar methods: of ``conn.reservation``, likewise
    """

    commands: str
    methods: str
    page: str
    heat: str


_HOSTS = 'reservable resource'
CAPABILITIES: Final = {
    'GET /leases': Capability(
        'lease list, lease calendar, lease completion', 'leases', 'Leases', _NO_STATE
    ),
    'POST /leases': Capability(
        'lease create', 'create_lease, rehearse_lease', 'the form and the calendar', _LEASE
    ),
    'GET /leases/{lease_id}': Capability(
        'lease show, lease wait', 'get_lease, find_lease, wait_for_lease', 'the lease', _LEASE
    ),
    'PUT /leases/{lease_id}': Capability(
        'lease set, lease extend, lease shorten, lease end', 'update_lease', 'the lease', _OWN
    ),
    'DELETE /leases/{lease_id}': Capability(
        'lease delete', 'delete_lease, wait_for_deleted_lease', 'the lease', _LEASE
    ),
    'GET /leases/{lease_id}/extension': Capability(
        'lease extend', 'lease_extension', 'the lease', _NO_STATE
    ),
    'GET /leases/{lease_id}/history': Capability(
        'lease history, lease watch', 'lease_history', 'the lease', _OWN
    ),
    'POST /leases/{lease_id}/readiness': Capability(
        '— services report it, not people',
        'report_readiness',
        '— services report it, not people',
        _NO_STATE,
    ),
    'POST /leases/{lease_id}/reallocate': Capability(
        'lease reallocate', 'reallocate_lease', 'the lease', _NO_STATE
    ),
    'GET /availability': Capability(
        'lease availability show', 'availability', 'utilisation, the form', _NO_STATE
    ),
    'GET /calendar': Capability(
        '— ``lease calendar`` draws leases and allocations, which old services have, too',
        'calendar',
        'the calendar',
        _NO_STATE,
    ),
    'POST /offers': Capability(
        'lease offer list, lease create', 'offers, offer_page', 'offers in the form', _OWN
    ),
    'GET /offers/{offer_id}': Capability(
        'lease offer show', 'get_offer', '— the form shows all of an offer', _NO_STATE
    ),
    'DELETE /offers/{offer_id}': Capability(
        'lease offer delete', 'delete_offer', 'closing the form', _NO_STATE
    ),
    'GET /me': Capability(
        '— ``openstack token issue`` shows the caller', 'me', 'the head of the page', _NO_STATE
    ),
    'GET /feeds': Capability('lease feed list', 'feeds', 'the lease, Leases', _NO_STATE),
    'POST /feeds': Capability(
        'lease feed create', 'create_feed', 'the lease, Leases', _NOT_IN_HEAT
    ),
    'GET /feeds/{feed_id}': Capability('lease feed show', 'get_feed', _COMMANDS, _NO_STATE),
    'DELETE /feeds/{feed_id}': Capability(
        'lease feed delete', 'delete_feed', 'the lease, Leases', _NOT_IN_HEAT
    ),
    'GET /webhooks': Capability('lease webhook list', 'webhooks', _COMMANDS, _NO_STATE),
    'POST /webhooks': Capability('lease webhook create', 'create_webhook', _COMMANDS, _NOT_IN_HEAT),
    'GET /webhooks/{webhook_id}': Capability(
        'lease webhook show', 'get_webhook', _COMMANDS, _NO_STATE
    ),
    'PUT /webhooks/{webhook_id}': Capability(
        'lease webhook set', 'update_webhook', _COMMANDS, _NOT_IN_HEAT
    ),
    'DELETE /webhooks/{webhook_id}': Capability(
        'lease webhook delete', 'delete_webhook', _COMMANDS, _NOT_IN_HEAT
    ),
    'GET /webhooks/{webhook_id}/deliveries': Capability(
        'lease webhook delivery list', 'webhook_deliveries', _COMMANDS, _NO_STATE
    ),
    'POST /webhooks/{webhook_id}/redeliver': Capability(
        'lease webhook redeliver', 'redeliver', _COMMANDS, _NO_STATE
    ),
    'POST /webhooks/{webhook_id}/test': Capability(
        'lease webhook test', 'test_webhook', _COMMANDS, _NO_STATE
    ),
    'GET /queue': Capability('lease queue, lease show', 'queue', 'the queue, the lease', _NO_STATE),
    'GET /usage': Capability('usage report', 'usage', _OPERATORS, _NO_STATE),
    'GET /maintenances': Capability('maintenance list', 'maintenances', _DRAWN, _OPERATORS),
    'POST /maintenances': Capability(
        'maintenance create', 'create_maintenance', 'the maintenance', _OPERATORS
    ),
    'GET /maintenances/{maintenance_id}': Capability(
        'maintenance show', 'get_maintenance', _DRAWN, _OPERATORS
    ),
    'PUT /maintenances/{maintenance_id}': Capability(
        'maintenance set',
        'update_maintenance',
        '— the page cancels it and adds another',
        _OPERATORS,
    ),
    'DELETE /maintenances/{maintenance_id}': Capability(
        'maintenance delete', 'delete_maintenance', 'the maintenance', _OPERATORS
    ),
    'GET /resources': Capability(f'{_HOSTS} list', 'resources, find_resource', _DRAWN, _NO_STATE),
    'POST /resources': Capability(f'{_HOSTS} create', 'create_resource', _OPERATORS, _NOT_IN_HEAT),
    'POST /resources/{resource_id}/refresh': Capability(
        f'{_HOSTS} refresh', 'refresh_resource', _OPERATORS, _NOT_IN_HEAT
    ),
    'GET /resources/{resource_id}': Capability(
        f'{_HOSTS} show', 'get_resource', 'the resource', _NO_STATE
    ),
    'PUT /resources/{resource_id}': Capability(
        f'{_HOSTS} set', 'update_resource', _OPERATORS, _NOT_IN_HEAT
    ),
    'DELETE /resources/{resource_id}': Capability(
        f'{_HOSTS} delete', 'delete_resource', _OPERATORS, _NOT_IN_HEAT
    ),
    'GET /resources/allocations': Capability(
        f'lease calendar, {_HOSTS} allocation list', 'allocations', _DRAWN, _OWN
    ),
    'GET /resources/{resource_id}/allocations': Capability(
        f'{_HOSTS} allocation list', 'get_resource_allocations', _DRAWN, _NO_STATE
    ),
    'GET /resources/properties': Capability(
        f'{_HOSTS} property list',
        'resource_properties',
        '— the page uses ``/os-hosts/properties``',
        _NO_STATE,
    ),
    'PATCH /resources/properties/{property_name}': Capability(
        f'{_HOSTS} property set', 'update_resource_property', _OPERATORS, _OPERATORS
    ),
    'GET /resource-types': Capability(
        f'{_HOSTS} type list', 'resource_types', 'the choice of a type', _NO_STATE
    ),
    'POST /resource-types': Capability(
        f'{_HOSTS} type create', 'create_resource_type', _OPERATORS, _OPERATORS
    ),
    'GET /resource-types/{type_name}': Capability(
        f'{_HOSTS} type show', 'get_resource_type', '— the list has all of a type', _NO_STATE
    ),
    'PUT /resource-types/{type_name}': Capability(
        f'{_HOSTS} type set', 'update_resource_type', _OPERATORS, _OPERATORS
    ),
    'DELETE /resource-types/{type_name}': Capability(
        f'{_HOSTS} type delete', 'delete_resource_type', _OPERATORS, _OPERATORS
    ),
    'GET /os-hosts': Capability(_SAME, 'hosts', _OTHER_VIEW, _NO_STATE),
    'POST /os-hosts': Capability(_SAME, 'create_host', _OTHER_VIEW, _HOST),
    'GET /os-hosts/{host_id}': Capability(_SAME, 'get_host', 'hosts of a lease', _HOST),
    'PUT /os-hosts/{host_id}': Capability(_SAME, 'update_host', _OTHER_VIEW, _HOST),
    'DELETE /os-hosts/{host_id}': Capability(_SAME, 'delete_host', _OTHER_VIEW, _HOST),
    'GET /os-hosts/allocations': Capability(
        _SAME, '— ``allocations`` yields those of all types', 'hosts of a lease', _NO_STATE
    ),
    'GET /os-hosts/{host_id}/allocation': Capability(
        _SAME, '— ``allocations`` yields those of all types', _OTHER_VIEW, _NO_STATE
    ),
    'GET /os-hosts/properties': Capability(
        _SAME,
        '— ``resource_properties`` yields those of all types',
        'grouping of the calendar',
        _NO_STATE,
    ),
    'PATCH /os-hosts/properties/{property_name}': Capability(
        _SAME, '— ``update_resource_property`` does it for all types', _OTHER_VIEW, _OPERATORS
    ),
    'GET /floatingips': Capability(_SAME, 'floating_ips', _OTHER_VIEW, _NO_STATE),
    'POST /floatingips': Capability(_SAME, 'create_floating_ip', _OTHER_VIEW, _NOT_IN_HEAT),
    'GET /floatingips/{floatingip_id}': Capability(
        _SAME, 'get_floating_ip', _OTHER_VIEW, _NO_STATE
    ),
    'DELETE /floatingips/{floatingip_id}': Capability(
        _SAME, 'delete_floating_ip', _OTHER_VIEW, _NOT_IN_HEAT
    ),
}
"""By method and path."""


def names(cell: str) -> Iterator[str]:
    """Yield the commands or methods of a cell."""
    if not cell.startswith('—'):
        yield from cell.split(', ')


def rst_table() -> str:
    """Return a ``list-table`` with a row per request."""
    lines = ['.. list-table::', '   :header-rows: 1', '']
    for row in (_HEAD, *(_row(request, each) for request, each in CAPABILITIES.items())):
        lines += [f'   {"*" if not place else " "} - {cell}' for place, cell in enumerate(row)]
    return '\n'.join([*lines, ''])


def _row(request: str, found: Capability) -> tuple[str, ...]:
    return (
        f'``{request}``',
        _literals(found.commands),
        _literals(found.methods),
        found.page,
        found.heat,
    )


def _literals(cell: str) -> str:
    return ', '.join(f'``{name}``' for name in names(cell)) or cell
