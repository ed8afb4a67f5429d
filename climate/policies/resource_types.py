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

"""Policy rules for resource types."""

from __future__ import annotations

from oslo_policy import policy

from climate.policies import base

LIST = 'climate:resourcetypes:list'
SHOW = 'climate:resourcetypes:show'
CREATE = 'climate:resourcetypes:create'
UPDATE = 'climate:resourcetypes:update'
DELETE = 'climate:resourcetypes:delete'

_ALL = '/v1/resource-types'
_ONE = '/v1/resource-types/{type_name}'


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules for resource types."""
    reader, admin = base.PROJECT_READER_OR_ADMIN, base.ADMIN
    return [
        base.documented(LIST, reader, 'List the resource types.', f'GET {_ALL}'),
        base.documented(SHOW, reader, 'Show a resource type.', f'GET {_ONE}'),
        base.documented(CREATE, admin, 'Declare a resource type.', f'POST {_ALL}'),
        base.documented(UPDATE, admin, 'Change a declared resource type.', f'PUT {_ONE}'),
        base.documented(DELETE, admin, 'Delete a declared resource type.', f'DELETE {_ONE}'),
    ]
