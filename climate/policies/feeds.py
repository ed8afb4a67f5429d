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

"""Policy rules for calendar feeds."""

from __future__ import annotations

from oslo_policy import policy

from climate.policies import base

LIST = 'climate:feeds:list'
SHOW = 'climate:feeds:show'
CREATE = 'climate:feeds:create'
RESOURCE = 'climate:feeds:create_for_resource'
DELETE = 'climate:feeds:delete'

_ALL = '/v1/feeds'
_ONE = '/v1/feeds/{feed_id}'


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules for feeds."""
    reader, member = base.PROJECT_READER_OR_ADMIN, base.PROJECT_MEMBER_OR_ADMIN
    return [
        base.documented(LIST, reader, 'List calendar feeds, without their links.', f'GET {_ALL}'),
        base.documented(SHOW, reader, 'Show a calendar feed, without its link.', f'GET {_ONE}'),
        base.documented(
            CREATE,
            member,
            'Create a link to a calendar of leases, which works without a token.',
            f'POST {_ALL}',
        ),
        base.documented(
            RESOURCE,
            base.ADMIN,
            'Create a link to the calendar of a resource, and see and revoke it afterwards; for '
            'other callers it does not exist. Leases of other projects are shown without their '
            'names.',
            f'GET {_ALL}',
            f'POST {_ALL}',
            f'GET {_ONE}',
            f'DELETE {_ONE}',
        ),
        base.documented(DELETE, member, 'Revoke the link of a calendar feed.', f'DELETE {_ONE}'),
    ]
