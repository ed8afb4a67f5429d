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

"""Policy rules for hosts."""

from __future__ import annotations

from oslo_policy import policy

from climate.policies import base

LIST = 'climate:hosts:list'
SHOW = 'climate:hosts:show'
CREATE = 'climate:hosts:create'
UPDATE = 'climate:hosts:update'
DELETE = 'climate:hosts:delete'

_ALL = '/v1/os-hosts'
_ONE = '/v1/os-hosts/{host_id}'


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules for hosts."""
    reader, admin = base.PROJECT_READER_OR_ADMIN, base.ADMIN
    return [
        base.documented(LIST, reader, 'List hosts, without private properties.', f'GET {_ALL}'),
        base.documented(SHOW, reader, 'Show a host, without private properties.', f'GET {_ONE}'),
        base.documented(CREATE, admin, 'Register a host.', f'POST {_ALL}'),
        base.documented(UPDATE, admin, 'Change the capabilities of a host.', f'PUT {_ONE}'),
        base.documented(DELETE, admin, 'Unregister a host.', f'DELETE {_ONE}'),
    ]
