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

"""Who may do what with leases."""

from __future__ import annotations

from oslo_policy import policy

from climate.policies import base

LIST = 'climate:leases:list'
SHOW = 'climate:leases:show'
CREATE = 'climate:leases:create'
UPDATE = 'climate:leases:update'
DELETE = 'climate:leases:delete'
ALL_PROJECTS = 'climate:leases:all_projects'

_ALL = '/v1/leases'
_ONE = '/v1/leases/{lease_id}'


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules for leases."""
    reader, member = base.PROJECT_READER_OR_ADMIN, base.PROJECT_MEMBER_OR_ADMIN
    return [
        base.documented(LIST, reader, 'List leases.', f'GET {_ALL}'),
        base.documented(SHOW, reader, 'Show a lease.', f'GET {_ONE}'),
        base.documented(CREATE, member, 'Create a lease in the own project.', f'POST {_ALL}'),
        base.documented(UPDATE, member, 'Change a lease.', f'PUT {_ONE}'),
        base.documented(
            DELETE, member, 'Delete a lease, ending it first if it runs.', f'DELETE {_ONE}'
        ),
        base.documented(
            ALL_PROJECTS,
            base.ADMIN,
            'See and change the leases of every project, and see whose reservations make a '
            "host busy. For callers whom this rule refuses, others' leases do not exist.",
            f'GET {_ALL}',
            f'GET {_ONE}',
            f'PUT {_ONE}',
            f'DELETE {_ONE}',
            'GET /v1/os-hosts/allocations',
            'GET /v1/os-hosts/{host_id}/allocation',
        ),
    ]
