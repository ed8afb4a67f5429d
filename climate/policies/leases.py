# SPDX-License-Identifier: Apache-2.0

"""Policy rules for leases."""

from __future__ import annotations

from climate.policies import base

LIST = 'climate:leases:list'
SHOW = 'climate:leases:show'
CREATE = 'climate:leases:create'
UPDATE = 'climate:leases:update'
DELETE = 'climate:leases:delete'
REALLOCATE = 'climate:leases:reallocate'
FORCE = 'climate:leases:force_reallocate'
READINESS = 'climate:leases:readiness'
PRIORITY = 'climate:leases:priority'
ALL_PROJECTS = 'climate:leases:all_projects'

_ALL = '/v1/leases'
_ONE = '/v1/leases/{lease_id}'
_READ = (f'GET {_ONE}', f'GET {_ONE}/history', f'GET {_ONE}/extension')
_EVERYWHERE = (
    f'GET {_ALL}',
    *_READ,
    f'PUT {_ONE}',
    f'DELETE {_ONE}',
    f'POST {_ONE}/reallocate',
    'GET /v1/calendar',
    'GET /v1/os-hosts/allocations',
    'GET /v1/os-hosts/{host_id}/allocation',
    'GET /v1/offers/{offer_id}',
    'DELETE /v1/offers/{offer_id}',
    'GET /v1/queue',
    'GET /v1/resources/allocations',
    'GET /v1/resources/{resource_id}/allocations',
)

_READER = base.PROJECT_READER_OR_ADMIN
_MEMBER = base.PROJECT_MEMBER_OR_ADMIN

RULES = (
    base.documented(LIST, _READER, 'List leases.', f'GET {_ALL}'),
    base.documented(
        SHOW, _READER, 'Show a lease, its history, and how far it can be extended.', *_READ
    ),
    base.documented(
        CREATE, _MEMBER, 'Create a lease in the project of the caller.', f'POST {_ALL}'
    ),
    base.documented(UPDATE, _MEMBER, 'Change a lease.', f'PUT {_ONE}'),
    base.documented(
        DELETE, _MEMBER, 'Delete a lease, ending it first if it runs.', f'DELETE {_ONE}'
    ),
    base.documented(
        REALLOCATE,
        _MEMBER,
        'Replace a resource of a lease with another one.',
        f'POST {_ONE}/reallocate',
    ),
    base.documented(
        FORCE,
        base.ADMIN,
        'Replace a resource even if it is in use; everything that runs there is lost.',
        f'POST {_ONE}/reallocate',
    ),
    base.documented(
        READINESS,
        base.SERVICE_OR_ADMIN,
        'Report which resources of a lease, of any project, are ready for use.',
        f'POST {_ONE}/readiness',
    ),
    base.documented(
        PRIORITY,
        base.ADMIN,
        'Give a lease a priority above 0, so that plans look at it before others.',
        f'POST {_ALL}',
        f'PUT {_ONE}',
    ),
    base.documented(
        ALL_PROJECTS,
        base.ADMIN,
        'See and change the leases of every project, and see whose reservations make a '
        'resource busy. Other callers see only the leases of their project.',
        *_EVERYWHERE,
    ),
)
