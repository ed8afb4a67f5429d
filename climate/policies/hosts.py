# SPDX-License-Identifier: Apache-2.0

"""Policy rules for hosts."""

from __future__ import annotations

from climate.policies import base

LIST = 'climate:hosts:list'
SHOW = 'climate:hosts:show'
CREATE = 'climate:hosts:create'
UPDATE = 'climate:hosts:update'
DELETE = 'climate:hosts:delete'

_ALL = '/v1/os-hosts'
_ONE = '/v1/os-hosts/{host_id}'

_READER = base.PROJECT_READER_OR_ADMIN

RULES = (
    base.documented(LIST, _READER, 'List hosts, without private properties.', f'GET {_ALL}'),
    base.documented(SHOW, _READER, 'Show a host, without private properties.', f'GET {_ONE}'),
    base.documented(CREATE, base.ADMIN, 'Register a host.', f'POST {_ALL}'),
    base.documented(UPDATE, base.ADMIN, 'Change the capabilities of a host.', f'PUT {_ONE}'),
    base.documented(DELETE, base.ADMIN, 'Unregister a host.', f'DELETE {_ONE}'),
)
