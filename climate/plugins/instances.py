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

"""What both kinds of reservations of instances have in common: their effects.

A reservation is some slots, each with room for one server. In the cloud it is
a private flavor that asks for one unit of a resource class of its own, and as
many units of that class as slots on each host, in the provider that is nested
in the host's (:mod:`climate.plugins.nested_providers`). At the start the
project may use the flavor. So the scheduler puts servers of that flavor, and
no others, onto those hosts, and no more than there are slots.

Slots that move to another host because theirs has failed are given there at
once. Servers on the failed host stay as they are, with the slots that they
hold; free ones go at once, and the others when they are seen to be free by
``check``, or at the end.
"""

from __future__ import annotations

import abc
import datetime
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any
from typing import ClassVar
from typing import TypeVar

from climate import exceptions
from climate.allocation import requirements
from climate.allocation import shares
from climate.clients.base import Aggregate
from climate.clients.base import Cloud
from climate.clients.base import CloudNotFound
from climate.clients.base import Flavor
from climate.clients.base import Policy
from climate.clients.base import Server
from climate.domain.leases import Reservation
from climate.domain.resources import Resource
from climate.plugins import base
from climate.plugins import instance_flavors
from climate.plugins import instance_marks
from climate.plugins import instance_shares
from climate.plugins import instance_slots
from climate.plugins import nested_providers
from climate.plugins.host_pools import HostPools
from climate.plugins.host_pools import hosts_of
from climate.plugins.host_pools import HostSettings
from climate.plugins.instance_leftovers import Leftovers

_AT_ONCE = datetime.timedelta(0)
# Nova tells Placement that a server is gone a moment after it is. Whoever holds
# a slot for longer than that, and is no server, does not keep a lease from
# ending: what is left then is found by ``sweep``.
_LINGERING = datetime.timedelta(seconds=30)
_LOOK = datetime.timedelta(seconds=1)

R = TypeVar('R')


class Instances(base.Plugin[R]):
    """Leases slots on hosts that stay in the pool."""

    prepares: ClassVar[bool] = True
    spreads: ClassVar[bool] = False
    """Whether there may be a server group."""

    def __init__(self, settings: HostSettings | None = None) -> None:
        self._settings = settings or HostSettings()
        self._pools = HostPools(self._settings)
        self._slots = instance_slots.InstanceSlots(self._settings)

    @property
    def exclusive(self) -> bool:
        """Whether a reservation has whole resources: it has room on them."""
        return False

    @classmethod
    def from_conf(cls, conf: Any) -> Instances[R]:
        """Return the plugin as *conf* wants it."""
        return cls(HostSettings.from_conf(conf))

    @abc.abstractmethod
    def template(self, request: R) -> Flavor:
        """Return the sizes of the servers and what else they need; names do not count."""

    def policy(self, request: R) -> Policy | None:
        """Return how servers are to lie on hosts; None if it does not matter."""
        return None

    def makes(self, request: R) -> str | None:
        """Say which server group there is to be, if servers are together or apart.

        Nova lets a project use groups of its own only. The slots lie as they
        should in any case; the group is for users who name it.
        """
        return self.policy(request)

    def make(self, reservation_id: str, request: R, cloud: Cloud) -> dict[str, Any]:
        """Make the server group; see :class:`climate.plugins.base.Plugin`."""
        policy = self.policy(request)
        if policy is None:
            return {}
        return instance_flavors.make_group(cloud, reservation_id, policy)

    def unmake(
        self, reservation_id: str, project_id: str, facts: Mapping[str, Any], cloud: Cloud
    ) -> None:
        """Delete the server group; see :class:`climate.plugins.base.Plugin`."""
        known = facts.get(instance_flavors.GROUP)
        found = instance_flavors.named_groups(cloud, reservation_id, project_id)
        for group in found:
            if known in (None, group.id):
                cloud.compute.delete_server_group(group.id)

    def leaves(self, reservation: Reservation) -> bool:
        """Whether there may be a server group."""
        wanted = self.policy(self.load(reservation.request))
        return wanted is not None or reservation.facts.get(instance_flavors.GROUP) is not None

    # -- effects

    def prepare(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Make the aggregate and the flavor, still of no use."""
        facts, _, _ = self._furnish(work, cloud)
        return base.Done(facts=facts)

    def start(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Give the hosts their slots and the project the flavor.

        If there are to be fewer slots, those are given up that nobody uses.

        :raises climate.exceptions.Permanent: if servers are in the way
        """
        wanted = self._suggested(work)
        kept = None
        if work.leaving and work.forced:
            going = self._evict(work, cloud)
            if going is not None:
                return going
        if work.leaving:
            wanted, kept, moved = self._fewer(work, cloud, wanted)
            if moved is not None:
                return moved
        facts, aggregate, _ = self._furnish(work, cloud)
        self._slots.spread(work, cloud, aggregate, wanted)
        if kept is not None or work.leaving:
            self._look_again(work, cloud, wanted)
        instance_flavors.open_to_owner(work, cloud)
        return base.Done(facts={**facts, 'shrinking': None}, kept=kept)

    def check(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Put right what somebody else changed, and take slots of failed hosts away."""
        facts, aggregate, repaired = self._furnish(work, cloud)
        repaired += self._slots.spread(work, cloud, aggregate, self._suggested(work))
        repaired += instance_flavors.open_to_owner(work, cloud)
        return base.Done(facts=facts, repaired=tuple(repaired))

    def end(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Delete the servers, and then everything else; the hosts stay in the pool.

        Nobody can start servers any more before those that run are looked for,
        and the flavor goes last, for Nova finds its servers by it.
        """
        has_flavor = instance_flavors.close_flavor(cloud, work.reservation.id)
        aggregate = cloud.compute.find_aggregate(work.reservation.id)
        going, held = self._servers(work, cloud, aggregate, has_flavor)
        for server in going.values():
            if server.task_state != 'deleting':
                cloud.compute.delete_server(server.id)
        if going:
            return self._pools.until_gone(work, list(going.values()), {})
        patient = work.now - work.since < _LINGERING
        if held and patient:
            return base.Again(after=_LOOK, why=f'{held} slots are still held')
        self._slots.remove(work, cloud, aggregate, leave_held=not patient)
        for group in instance_flavors.groups(work, cloud) if self.spreads else ():
            cloud.compute.delete_server_group(group.id)
        cloud.compute.delete_flavor(work.reservation.id)
        return base.Done(
            facts={
                'aggregate_id': None,
                instance_flavors.GROUP: None,
                instance_flavors.OTHERS: None,
                'shrinking': None,
            }
        )

    def occupied(self, reservation: Reservation, resource: Resource, cloud: Cloud) -> str:
        """Say how many slots of a host are in use.

        Servers on a host that has failed are in nobody's way: they stay there.
        """
        if resource.failed_at is not None:
            return ''
        name = instance_marks.resource_class(reservation.id)
        used = nested_providers.used(cloud, resource.name, name)
        return f'{used} slots are in use' if used else ''

    def sweep(
        self, records: base.Records, cloud: Cloud, *, dry_run: bool
    ) -> Iterator[base.Finding]:
        """Find what reservations that are over left, of either kind, and remove it."""
        return Leftovers(records, cloud, dry_run=dry_run).sweep()

    # -- parts of them

    def _furnish(
        self, work: base.Work, cloud: Cloud
    ) -> tuple[dict[str, Any], Aggregate, list[str]]:
        """Bring to what it should be what does not depend on the hosts."""
        request = self.load(work.reservation.request)
        group_id = instance_flavors.find_group(work, cloud, self.policy(request))
        aggregate, repaired = self._slots.aggregate(work, cloud, group_id)
        wanted = instance_marks.flavor(
            self.template(request), work.reservation.id, group_id, self._settings.isolation
        )
        repaired += instance_flavors.ensure_flavor(cloud, wanted)
        facts = {
            'aggregate_id': aggregate.id,
            instance_flavors.GROUP: group_id,
            instance_flavors.OTHERS: None,
        }
        return facts, aggregate, repaired

    def _search(self, work: base.Work) -> base.Search:
        return self.search(self.load(work.reservation.request))

    def _suggested(self, work: base.Work) -> dict[int, int]:
        return shares.slots(work.allocations, self._search(work).demand)

    def _servers(
        self, work: base.Work, cloud: Cloud, aggregate: Aggregate | None, has_flavor: bool
    ) -> tuple[dict[str, Server], int]:
        """Return the servers in the slots, and how many hold one and are no servers.

        Nova's lists leave out those of a cell that does not answer just now,
        and those made of a flavor of the same id that was deleted. Placement
        knows what they hold; it is asked when those that are listed are gone.
        """
        found: dict[str, Server] = {}
        if has_flavor:
            for server in cloud.compute.list_servers_of_flavor(work.reservation.id):
                found[server.id] = server
        if found:
            return found, 0
        strangers = 0
        for consumer in self._holders(work, cloud, aggregate):
            holder = cloud.compute.find_server(consumer)
            if holder is None:
                strangers += 1
            else:
                found[consumer] = holder
        return found, strangers

    def _holders(self, work: base.Work, cloud: Cloud, aggregate: Aggregate | None) -> list[str]:
        name = instance_marks.resource_class(work.reservation.id)
        holders = []
        for host in instance_slots.scope(work, cloud, aggregate):
            provider = nested_providers.find(cloud, host)
            if provider is not None:
                holders += [
                    each.consumer_id
                    for each in _allocations(cloud, provider.uuid)
                    if name in each.amounts
                ]
        return holders

    # -- fewer slots

    def _evict(self, work: base.Work, cloud: Cloud) -> base.Again | None:
        """Delete the servers in the slots that are to go; None if there are none."""
        hosts = hosts_of(work, work.leaving)
        found = cloud.compute.list_servers_of_flavor(work.reservation.id)
        going = [server for server in found if server.host in hosts]
        for server in going:
            if server.task_state != 'deleting':
                cloud.compute.delete_server(server.id)
        if going:
            return self._pools.until_gone(work, going, {})
        used = self._slots.used(work, cloud)
        held = sum(used[item.resource_id] for item in work.leaving)
        if held and work.now - work.since < _LINGERING:
            return base.Again(after=_LOOK, why='slots are still held')
        return None

    def _fewer(
        self, work: base.Work, cloud: Cloud, wanted: dict[int, int]
    ) -> tuple[dict[int, int], dict[int, int] | None, base.Again | None]:
        """Say which slots to keep of a reservation that gives some up.

        :returns: slots by resource id; the same if they are others than was
            suggested, else None; and what to answer first, if anything
        :raises climate.exceptions.Permanent: if servers are in the way
        """
        search = self._search(work)
        leaving = shares.slots(work.leaving, search.demand)
        had = {
            number: wanted.get(number, 0) + leaving.get(number, 0)
            for number in wanted.keys() | leaving.keys()
        }
        used = self._slots.used(work, cloud)
        known = {resource.id or 0: resource for resource in work.resources}
        # Servers on a host that has failed are not in the way.
        busy = {number: used[number] for number in sorted(had) if not known[number].failed_at}
        if all(busy.get(number, 0) <= wanted.get(number, 0) for number in had):
            return wanted, None, None
        mark = sorted([number, count] for number, count in leaving.items())
        begun = work.reservation.facts.get('shrinking') == mark
        kept = None
        if begun or self._only_shrinks(work, cloud, wanted):
            most = {
                number: had[number] if _suits(search, known[number]) else wanted.get(number, 0)
                for number in had
            }
            kept = instance_shares.keep(wanted, most, busy)
        if kept is None:
            raise exceptions.Permanent(
                'servers use the slots that would have to go: '
                + ', '.join(f'{busy[number]} on {known[number].name}' for number in busy)
            )
        if not begun:
            # Once something is taken away it cannot be told any more that
            # nothing was to be given: so that is remembered first.
            return (
                kept,
                kept,
                base.Again(after=_AT_ONCE, why='other slots are kept', facts={'shrinking': mark}),
            )
        return kept, kept, None

    def _only_shrinks(self, work: base.Work, cloud: Cloud, wanted: dict[int, int]) -> bool:
        """Whether nothing is to be given: all that is to be kept is there."""
        totals = self._slots.totals(work, cloud)
        return all(totals[number] >= count for number, count in wanted.items())

    def _look_again(self, work: base.Work, cloud: Cloud, wanted: dict[int, int]) -> None:
        """See to it that nobody took a slot while it was taken away."""
        used = self._slots.used(work, cloud)
        for resource in work.resources:
            number = resource.id or 0
            if resource.failed_at is None and used[number] > wanted.get(number, 0):
                raise exceptions.Transient(f'a server took a slot on host {resource.name}')


def _allocations(cloud: Cloud, uuid: str) -> Any:
    try:
        return cloud.placement.allocations(uuid)
    except CloudNotFound:
        return ()


def _suits(search: base.Search, resource: Resource) -> bool:
    """Whether a host may have slots of a reservation any longer."""
    said = {**resource.attributes, **resource.capabilities}
    return (
        resource.failed_at is None
        and not resource.disabled
        and requirements.matches(search.requirement, said)
        and search.required_traits <= resource.traits
        and not search.forbidden_traits & resource.traits
    )
