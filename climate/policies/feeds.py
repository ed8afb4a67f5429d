# SPDX-License-Identifier: Apache-2.0

"""Policy rules for calendar feeds."""

from __future__ import annotations

from climate.policies import base

LIST = 'climate:feeds:list'
SHOW = 'climate:feeds:show'
CREATE = 'climate:feeds:create'
RESOURCE = 'climate:feeds:create_for_resource'
DELETE = 'climate:feeds:delete'

_ALL = '/v1/feeds'
_ONE = '/v1/feeds/{feed_id}'

_READER = base.PROJECT_READER_OR_ADMIN
_MEMBER = base.PROJECT_MEMBER_OR_ADMIN

RULES = (
    base.documented(LIST, _READER, 'List calendar feeds, without their links.', f'GET {_ALL}'),
    base.documented(SHOW, _READER, 'Show a calendar feed, without its link.', f'GET {_ONE}'),
    base.documented(
        CREATE,
        _MEMBER,
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
    base.documented(DELETE, _MEMBER, 'Revoke the link of a calendar feed.', f'DELETE {_ONE}'),
)
