# SPDX-License-Identifier: Apache-2.0

"""Default policies in code, one module per noun.

Rules are named ``climate:<noun>:<verb>``. No policy file is needed; with one, operators
override individual rules.
"""

from __future__ import annotations

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
from climate.policies import queue
from climate.policies import resource_types
from climate.policies import resources
from climate.policies import usage
from climate.policies import webhooks


def list_rules() -> list[policy.RuleDefault]:
    """Return every rule; oslo.policy's generators call this."""
    modules = (
        *(base, leases, hosts, floatingips, resources, resource_types, allocations, properties),
        *(maintenances, availability, offers, calendar, me, feeds, webhooks, usage, queue),
    )
    return [rule for module in modules for rule in module.RULES]
