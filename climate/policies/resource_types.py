# SPDX-License-Identifier: Apache-2.0

"""Policy rules for resource types."""

from __future__ import annotations

from climate.policies import base

LIST = 'climate:resourcetypes:list'
SHOW = 'climate:resourcetypes:show'
CREATE = 'climate:resourcetypes:create'
UPDATE = 'climate:resourcetypes:update'
DELETE = 'climate:resourcetypes:delete'

_ALL = '/v1/resource-types'
_ONE = '/v1/resource-types/{type_name}'

_READER = base.PROJECT_READER_OR_ADMIN

RULES = (
    base.documented(LIST, _READER, 'List the resource types.', f'GET {_ALL}'),
    base.documented(SHOW, _READER, 'Show a resource type.', f'GET {_ONE}'),
    base.documented(CREATE, base.ADMIN, 'Declare a resource type.', f'POST {_ALL}'),
    base.documented(UPDATE, base.ADMIN, 'Change a declared resource type.', f'PUT {_ONE}'),
    base.documented(DELETE, base.ADMIN, 'Delete a declared resource type.', f'DELETE {_ONE}'),
)
