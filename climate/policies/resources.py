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

"""Policy rules for resources of any type."""

from __future__ import annotations

from oslo_policy import policy

from climate.policies import base

LIST = 'climate:resources:list'
SHOW = 'climate:resources:show'
CREATE = 'climate:resources:create'
UPDATE = 'climate:resources:update'
DELETE = 'climate:resources:delete'
REFRESH = 'climate:resources:refresh'

_ALL = '/v1/resources'
_ONE = '/v1/resources/{resource_id}'


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules for resources."""
    reader, admin = base.PROJECT_READER_OR_ADMIN, base.ADMIN
    return [
        base.documented(LIST, reader, 'List resources, without private properties.', f'GET {_ALL}'),
        base.documented(
            SHOW, reader, 'Show a resource, without private properties.', f'GET {_ONE}'
        ),
        base.documented(CREATE, admin, 'Register a resource.', f'POST {_ALL}'),
        base.documented(
            UPDATE,
            admin,
            'Change the name, the properties and the inventories of a resource, or exclude it '
            'from new bookings.',
            f'PUT {_ONE}',
        ),
        base.documented(DELETE, admin, 'Unregister a resource.', f'DELETE {_ONE}'),
        base.documented(
            REFRESH,
            admin,
            'Read a resource again from the cloud.',
            f'POST {_ONE}/refresh',
        ),
    ]
