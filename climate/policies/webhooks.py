# SPDX-License-Identifier: Apache-2.0

"""Policy rules for webhooks."""

from __future__ import annotations

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

_MEMBER = base.PROJECT_MEMBER_OR_ADMIN

RULES = (
    base.documented(LIST, _MEMBER, 'List webhooks, without their secrets.', f'GET {_ALL}'),
    base.documented(SHOW, _MEMBER, 'Show a webhook, without its secret.', f'GET {_ONE}'),
    base.documented(
        CREATE, _MEMBER, 'Create a webhook for the leases of the project.', f'POST {_ALL}'
    ),
    base.documented(
        EVERYWHERE,
        base.ADMIN,
        'Create a webhook for the leases of all projects, and see, change, test and delete '
        'it afterwards. For other callers it does not exist.',
        *_EVERYWHERE,
    ),
    base.documented(UPDATE, _MEMBER, 'Change a webhook, or give it a new secret.', f'PUT {_ONE}'),
    base.documented(DELETE, _MEMBER, 'Delete a webhook.', f'DELETE {_ONE}'),
    base.documented(
        DELIVERIES, _MEMBER, 'List the deliveries to a webhook.', f'GET {_ONE}/deliveries'
    ),
    base.documented(
        REDELIVER, _MEMBER, 'Send dead letters of a webhook again.', f'POST {_ONE}/redeliver'
    ),
    base.documented(TEST, _MEMBER, 'Send a test event to a webhook.', f'POST {_ONE}/test'),
)
