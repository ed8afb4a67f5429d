# SPDX-License-Identifier: Apache-2.0

"""The aggregate metadata that defines which projects may use a host.

Which keys Nova reads depends on the mechanism that isolates hosts there. The
functions of this module return the metadata; they do not call Nova.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping

from climate.cloud.base import Aggregate

# With Nova's filter AggregateMultiTenancyIsolation, only the projects named here can
# use the hosts of an aggregate. On a host in several aggregates, these are all
# projects that any of them names.
TENANT_KEY = 'filter_tenant_id'

# The id of a project never has a colon.
NOBODY = 'climate:nobody'

# With [scheduler] enable_isolated_aggregate_filtering, Nova asks Placement to
# leave out the hosts of an aggregate unless the server requires this trait. No host
# has the trait: only the nested providers that count slots have it, so that only a
# server that takes a slot can require it.
POOL_TRAIT = 'CUSTOM_CLIMATE_FREEPOOL'
CLOSING_KEY = f'trait:{POOL_TRAIT}'
CLOSING_VALUE = 'required'
# The reservation to which an aggregate of instance slots belongs.
SLOTS_KEY = 'reservation'


class Isolation(enum.StrEnum):
    """The mechanism in Nova that reserves hosts for their leases."""

    FILTER = 'filter'
    PLACEMENT = 'placement'
    BOTH = 'both'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Marking:
    """The metadata that an aggregate should have.

    :ivar wanted: the keys it must have
    :ivar unwanted: keys that another isolation may have left; each is removed if it
        has exactly this value, and otherwise belongs to another service
    """

    wanted: Mapping[str, str]
    unwanted: Mapping[str, str]

    def changes(self, present: Mapping[str, str]) -> dict[str, str | None]:
        """Return the changes to *present*; None removes a key."""
        changes: dict[str, str | None] = {
            key: value for key, value in self.wanted.items() if present.get(key) != value
        }
        changes |= {key: None for key, value in self.unwanted.items() if present.get(key) == value}
        return changes


def of_pool(isolation: Isolation) -> Marking:
    """Return the metadata of the pool of reservable hosts, which no project may use.

    The scheduler filter of Blazar recognizes the pool by its name. The other two
    mechanisms are only safe together: Nova's own filter sees only as many hosts as
    Placement returns, so that a large pool could hide all other hosts; and Placement
    does not exclude the pool while Nova cannot report its members.
    """
    closed = {TENANT_KEY: NOBODY, CLOSING_KEY: CLOSING_VALUE}
    if isolation is Isolation.FILTER:
        return Marking(wanted={}, unwanted=closed)
    return Marking(wanted=closed, unwanted={})


def of_lease(isolation: Isolation, owner_key: str, project_id: str) -> Marking:
    """Return the metadata of a reservation's aggregate, which names its project.

    :param owner_key: the key in which the scheduler filter of Blazar looks for the owner
    """
    words = {
        Isolation.FILTER: {owner_key: project_id},
        Isolation.PLACEMENT: {TENANT_KEY: project_id},
    }
    everything = words[Isolation.FILTER] | words[Isolation.PLACEMENT]
    wanted = words.get(isolation, everything)
    return Marking(
        wanted=wanted,
        unwanted={key: value for key, value in everything.items() if key not in wanted},
    )


def of_ended_lease(isolation: Isolation, owner_key: str) -> Marking:
    """Return the metadata of a reservation's aggregate after its lease has ended.

    The hosts stay in it until their servers are deleted. No project may start others
    there meanwhile, or the next lease would find them.

    :param owner_key: the key in which the scheduler filter of Blazar looks for the owner
    """
    return Marking(wanted=of_lease(isolation, owner_key, NOBODY).wanted, unwanted={})


def of_slots(isolation: Isolation) -> Mapping[str, str]:
    """Return what the flavor of reserved slots requires in addition to the slot.

    Hosts with slots stay in the pool. Where Placement excludes the pool, the flavor
    must require the trait that gives access to it.
    """
    return {} if isolation is Isolation.FILTER else {CLOSING_KEY: CLOSING_VALUE}


def of_provider(isolation: Isolation) -> frozenset[str]:
    """Return the traits of the nested providers that count slots."""
    return frozenset() if isolation is Isolation.FILTER else frozenset({POOL_TRAIT})


def is_of_slots(aggregate: Aggregate) -> bool:
    """Whether an aggregate named after a reservation is one of instance slots.

    Those of whole hosts have an availability zone.
    """
    return aggregate.availability_zone is None
