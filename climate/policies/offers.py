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

"""Policy rules for offers."""

from __future__ import annotations

from oslo_policy import policy

from climate.policies import base

CREATE = 'climate:offers:create'
SHOW = 'climate:offers:show'
DELETE = 'climate:offers:delete'

_ONE = '/v1/offers/{offer_id}'


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules for offers."""
    return [
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
    ]
