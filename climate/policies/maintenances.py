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

"""Policy rules for maintenances."""

from __future__ import annotations

from oslo_policy import policy

from climate.policies import base

LIST = 'climate:maintenances:list'
SHOW = 'climate:maintenances:show'
CREATE = 'climate:maintenances:create'
UPDATE = 'climate:maintenances:update'
DELETE = 'climate:maintenances:delete'

_ALL = '/v1/maintenances'
_ONE = '/v1/maintenances/{maintenance_id}'


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules for maintenances."""
    admin = base.ADMIN
    return [
        base.documented(LIST, admin, 'List maintenances.', f'GET {_ALL}'),
        base.documented(SHOW, admin, 'Show a maintenance.', f'GET {_ONE}'),
        base.documented(CREATE, admin, 'Announce a maintenance.', f'POST {_ALL}'),
        base.documented(UPDATE, admin, 'Change a maintenance.', f'PUT {_ONE}'),
        base.documented(DELETE, admin, 'Cancel a maintenance.', f'DELETE {_ONE}'),
    ]
