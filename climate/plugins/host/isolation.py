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

"""How Nova is told who may use which host.

Aggregates carry the words, Nova reads them: which ones depends on what keeps
people apart there. Nothing here calls Nova; it only says what is to be said.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping

from climate.clients.base import Aggregate

# Nova's filter AggregateMultiTenancyIsolation lets nobody but the projects
# named here use the hosts of an aggregate, and of several that a host is in
# all that are named by any of them.
TENANT_KEY = 'filter_tenant_id'

# Keystone gives no project an id with a colon.
NOBODY = 'climate:nobody'

# With [scheduler] enable_isolated_aggregate_filtering Nova asks Placement to
# leave the hosts of an aggregate out unless the server requires this trait;
# and if it does, Placement finds no host that has it: only the providers have
# it in which slots are counted, and they give it to who takes a slot of theirs.
POOL_TRAIT = 'CUSTOM_CLIMATE_FREEPOOL'
CLOSING_KEY = f'trait:{POOL_TRAIT}'
CLOSING_VALUE = 'required'
# The reservation that an aggregate of slots for instances is of.
SLOTS_KEY = 'reservation'


class Isolation(enum.StrEnum):
    """What in Nova keeps others off the hosts."""

    FILTER = 'filter'
    PLACEMENT = 'placement'
    BOTH = 'both'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Marking:
    """The metadata that an aggregate should have.

    :ivar wanted: what has to be there
    :ivar unwanted: what another isolation would have left there; it goes if it
        is exactly this, and stays if it is somebody else's
    """

    wanted: Mapping[str, str]
    unwanted: Mapping[str, str]

    def changes(self, present: Mapping[str, str]) -> dict[str, str | None]:
        """Return what has to change of *present*; a None removes its key."""
        changes: dict[str, str | None] = {
            key: value for key, value in self.wanted.items() if present.get(key) != value
        }
        changes |= {key: None for key, value in self.unwanted.items() if present.get(key) == value}
        return changes


def of_pool(isolation: Isolation) -> Marking:
    """Say what the pool of reservable hosts is marked with: nobody may use it.

    The scheduler filter of Blazar knows the pool by its name. The other two
    are needed both: Nova's own filter sees only as many hosts as Placement
    returns, so that a large pool could leave none for anybody; and Placement
    forgets the pool if Nova cannot tell it who is in there.
    """
    closed = {TENANT_KEY: NOBODY, CLOSING_KEY: CLOSING_VALUE}
    if isolation is Isolation.FILTER:
        return Marking(wanted={}, unwanted=closed)
    return Marking(wanted=closed, unwanted={})


def of_lease(isolation: Isolation, owner_key: str, project_id: str) -> Marking:
    """Say what the aggregate of a reservation is marked with: whose it is.

    :param owner_key: where the scheduler filter of Blazar looks for the owner
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
    """Say what the aggregate of a reservation is marked with when its time is over.

    The hosts stay in it until their servers are gone. Nobody may start others
    there meanwhile: the host would be handed on with them.

    :param owner_key: where the scheduler filter of Blazar looks for the owner
    """
    return Marking(wanted=of_lease(isolation, owner_key, NOBODY).wanted, unwanted={})


def of_slots(isolation: Isolation) -> Mapping[str, str]:
    """Say what the flavor of reserved slots has to ask for beside the slot.

    Hosts of slots stay in the pool. Where Placement leaves the pool out, the
    flavor has to ask for what closes it.
    """
    return {} if isolation is Isolation.FILTER else {CLOSING_KEY: CLOSING_VALUE}


def of_provider(isolation: Isolation) -> frozenset[str]:
    """Say which traits the providers have in which slots are counted."""
    return frozenset() if isolation is Isolation.FILTER else frozenset({POOL_TRAIT})


def is_of_slots(aggregate: Aggregate) -> bool:
    """Return whether an aggregate named after a reservation is one of slots for instances.

    Those of whole hosts have a zone.
    """
    return aggregate.availability_zone is None
