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

"""Policy rules for leases."""

from __future__ import annotations

from oslo_policy import policy

from climate.policies import base

LIST = 'climate:leases:list'
SHOW = 'climate:leases:show'
CREATE = 'climate:leases:create'
UPDATE = 'climate:leases:update'
DELETE = 'climate:leases:delete'
REALLOCATE = 'climate:leases:reallocate'
FORCE = 'climate:leases:force_reallocate'
READINESS = 'climate:leases:readiness'
ALL_PROJECTS = 'climate:leases:all_projects'

_ALL = '/v1/leases'
_ONE = '/v1/leases/{lease_id}'
_READ = (f'GET {_ONE}', f'GET {_ONE}/history', f'GET {_ONE}/extension')
_EVERYWHERE = (
    f'GET {_ALL}',
    *_READ,
    f'PUT {_ONE}',
    f'DELETE {_ONE}',
    f'POST {_ONE}/reallocate',
    'GET /v1/calendar',
    'GET /v1/os-hosts/allocations',
    'GET /v1/os-hosts/{host_id}/allocation',
    'GET /v1/offers/{offer_id}',
    'DELETE /v1/offers/{offer_id}',
    'GET /v1/resources/allocations',
    'GET /v1/resources/{resource_id}/allocations',
)


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules for leases."""
    reader, member = base.PROJECT_READER_OR_ADMIN, base.PROJECT_MEMBER_OR_ADMIN
    return [
        base.documented(LIST, reader, 'List leases.', f'GET {_ALL}'),
        base.documented(
            SHOW, reader, 'Show a lease, its history, and how far it can be extended.', *_READ
        ),
        base.documented(
            CREATE, member, 'Create a lease in the project of the caller.', f'POST {_ALL}'
        ),
        base.documented(UPDATE, member, 'Change a lease.', f'PUT {_ONE}'),
        base.documented(
            DELETE, member, 'Delete a lease, ending it first if it runs.', f'DELETE {_ONE}'
        ),
        base.documented(
            REALLOCATE,
            member,
            'Replace a resource of a lease with another one.',
            f'POST {_ONE}/reallocate',
        ),
        base.documented(
            FORCE,
            base.ADMIN,
            'Replace a resource even if it is in use; everything that runs there is lost.',
            f'POST {_ONE}/reallocate',
        ),
        base.documented(
            READINESS,
            base.SERVICE_OR_ADMIN,
            'Report which resources of a lease, of any project, are ready for use.',
            f'POST {_ONE}/readiness',
        ),
        base.documented(
            ALL_PROJECTS,
            base.ADMIN,
            'See and change the leases of every project, and see whose reservations make a '
            'resource busy. Other callers see only the leases of their project.',
            *_EVERYWHERE,
        ),
    ]
