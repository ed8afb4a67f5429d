# SPDX-License-Identifier: Apache-2.0

"""Policy rules for offers."""

from __future__ import annotations

from climate.policies import base

CREATE = 'climate:offers:create'
SHOW = 'climate:offers:show'
DELETE = 'climate:offers:delete'

_ONE = '/v1/offers/{offer_id}'

RULES = (
    base.documented(
        CREATE,
        base.PROJECT_MEMBER_OR_ADMIN,
        'Find periods in which a lease could be booked, and hold the first.',
        'POST /v1/offers',
    ),
    base.documented(SHOW, base.PROJECT_READER_OR_ADMIN, 'Show an offer.', f'GET {_ONE}'),
    base.documented(
        DELETE,
        base.PROJECT_MEMBER_OR_ADMIN,
        'Delete an offer, and release what is held for it.',
        f'DELETE {_ONE}',
    ),
)
