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

"""Policy rules for webhooks."""

from __future__ import annotations

from oslo_policy import policy

from climate.policies import base

LIST = 'climate:webhooks:list'
SHOW = 'climate:webhooks:show'
CREATE = 'climate:webhooks:create'
EVERYWHERE = 'climate:webhooks:create_for_all_projects'
UPDATE = 'climate:webhooks:update'
DELETE = 'climate:webhooks:delete'
DELIVERIES = 'climate:webhooks:deliveries'
REDELIVER = 'climate:webhooks:redeliver'
TEST = 'climate:webhooks:test'

_ALL = '/v1/webhooks'
_ONE = '/v1/webhooks/{webhook_id}'
_EVERYWHERE = (
    f'GET {_ALL}',
    f'POST {_ALL}',
    f'GET {_ONE}',
    f'PUT {_ONE}',
    f'DELETE {_ONE}',
    f'GET {_ONE}/deliveries',
    f'POST {_ONE}/redeliver',
    f'POST {_ONE}/test',
)


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules for webhooks."""
    member = base.PROJECT_MEMBER_OR_ADMIN
    return [
        base.documented(LIST, member, 'List webhooks, without their secrets.', f'GET {_ALL}'),
        base.documented(SHOW, member, 'Show a webhook, without its secret.', f'GET {_ONE}'),
        base.documented(
            CREATE, member, 'Create a webhook for the leases of the project.', f'POST {_ALL}'
        ),
        base.documented(
            EVERYWHERE,
            base.ADMIN,
            'Create a webhook for the leases of all projects, and see, change, test and delete '
            'it afterwards. For other callers it does not exist.',
            *_EVERYWHERE,
        ),
        base.documented(
            UPDATE, member, 'Change a webhook, or give it a new secret.', f'PUT {_ONE}'
        ),
        base.documented(DELETE, member, 'Delete a webhook.', f'DELETE {_ONE}'),
        base.documented(
            DELIVERIES, member, 'List the deliveries to a webhook.', f'GET {_ONE}/deliveries'
        ),
        base.documented(
            REDELIVER, member, 'Send dead letters of a webhook again.', f'POST {_ONE}/redeliver'
        ),
        base.documented(TEST, member, 'Send a test event to a webhook.', f'POST {_ONE}/test'),
    ]
