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

"""Policy rules for floating IPs."""

from __future__ import annotations

from oslo_policy import policy

from climate.policies import base

LIST = 'climate:floatingips:list'
SHOW = 'climate:floatingips:show'
CREATE = 'climate:floatingips:create'
DELETE = 'climate:floatingips:delete'

_ALL = '/v1/floatingips'
_ONE = '/v1/floatingips/{floatingip_id}'


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules for floating IPs."""
    reader, admin = base.PROJECT_READER_OR_ADMIN, base.ADMIN
    return [
        base.documented(LIST, reader, 'List reservable floating IPs.', f'GET {_ALL}'),
        base.documented(SHOW, reader, 'Show a reservable floating IP.', f'GET {_ONE}'),
        base.documented(CREATE, admin, 'Register a floating IP.', f'POST {_ALL}'),
        base.documented(DELETE, admin, 'Unregister a floating IP.', f'DELETE {_ONE}'),
    ]
