# SPDX-License-Identifier: Apache-2.0

"""Policy rules for maintenances."""

from __future__ import annotations

from climate.policies import base

LIST = 'climate:maintenances:list'
SHOW = 'climate:maintenances:show'
CREATE = 'climate:maintenances:create'
UPDATE = 'climate:maintenances:update'
DELETE = 'climate:maintenances:delete'

_ALL = '/v1/maintenances'
_ONE = '/v1/maintenances/{maintenance_id}'

RULES = (
    base.documented(LIST, base.ADMIN, 'List maintenances.', f'GET {_ALL}'),
    base.documented(SHOW, base.ADMIN, 'Show a maintenance.', f'GET {_ONE}'),
    base.documented(CREATE, base.ADMIN, 'Announce a maintenance.', f'POST {_ALL}'),
    base.documented(UPDATE, base.ADMIN, 'Change a maintenance.', f'PUT {_ONE}'),
    base.documented(DELETE, base.ADMIN, 'Cancel a maintenance.', f'DELETE {_ONE}'),
)
