# SPDX-License-Identifier: Apache-2.0

"""Policy rules for resources of any type."""

from __future__ import annotations

from climate.policies import base

LIST = 'climate:resources:list'
SHOW = 'climate:resources:show'
CREATE = 'climate:resources:create'
UPDATE = 'climate:resources:update'
DELETE = 'climate:resources:delete'
REFRESH = 'climate:resources:refresh'

_ALL = '/v1/resources'
_ONE = '/v1/resources/{resource_id}'

_READER = base.PROJECT_READER_OR_ADMIN

RULES = (
    base.documented(LIST, _READER, 'List resources, without private properties.', f'GET {_ALL}'),
    base.documented(SHOW, _READER, 'Show a resource, without private properties.', f'GET {_ONE}'),
    base.documented(CREATE, base.ADMIN, 'Register a resource.', f'POST {_ALL}'),
    base.documented(
        UPDATE,
        base.ADMIN,
        'Change the name, the properties and the inventories of a resource, or exclude it '
        'from new bookings.',
        f'PUT {_ONE}',
    ),
    base.documented(DELETE, base.ADMIN, 'Unregister a resource.', f'DELETE {_ONE}'),
    base.documented(
        REFRESH, base.ADMIN, 'Read a resource again from the cloud.', f'POST {_ONE}/refresh'
    ),
)
