# SPDX-License-Identifier: Apache-2.0

"""Policy rules for floating IPs."""

from __future__ import annotations

from climate.policies import base

LIST = 'climate:floatingips:list'
SHOW = 'climate:floatingips:show'
CREATE = 'climate:floatingips:create'
DELETE = 'climate:floatingips:delete'

_ALL = '/v1/floatingips'
_ONE = '/v1/floatingips/{floatingip_id}'

_READER = base.PROJECT_READER_OR_ADMIN

RULES = (
    base.documented(LIST, _READER, 'List reservable floating IPs.', f'GET {_ALL}'),
    base.documented(SHOW, _READER, 'Show a reservable floating IP.', f'GET {_ONE}'),
    base.documented(CREATE, base.ADMIN, 'Register a floating IP.', f'POST {_ALL}'),
    base.documented(DELETE, base.ADMIN, 'Unregister a floating IP.', f'DELETE {_ONE}'),
)
