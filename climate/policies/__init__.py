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

"""Default policies in code, one module per noun.

Rules are named ``climate:<noun>:<verb>``. No policy file is needed; with one, operators
override individual rules.
"""

from __future__ import annotations

import itertools

from oslo_policy import policy

from climate.policies import allocations
from climate.policies import availability
from climate.policies import base
from climate.policies import calendar
from climate.policies import feeds
from climate.policies import floatingips
from climate.policies import hosts
from climate.policies import leases
from climate.policies import maintenances
from climate.policies import me
from climate.policies import offers
from climate.policies import properties
from climate.policies import resource_types
from climate.policies import resources
from climate.policies import usage
from climate.policies import webhooks


def list_rules() -> list[policy.RuleDefault]:
    """Return every rule; oslo.policy's generators call this."""
    return list(
        itertools.chain(
            base.list_rules(),
            leases.list_rules(),
            hosts.list_rules(),
            floatingips.list_rules(),
            resources.list_rules(),
            resource_types.list_rules(),
            allocations.list_rules(),
            properties.list_rules(),
            maintenances.list_rules(),
            availability.list_rules(),
            offers.list_rules(),
            calendar.list_rules(),
            me.list_rules(),
            feeds.list_rules(),
            webhooks.list_rules(),
            usage.list_rules(),
        )
    )
