# SPDX-License-Identifier: Apache-2.0

"""The effects that both kinds of reservations of instances share.

A reservation has some slots, each with room for one server. In the cloud it is
a private flavor that asks for one unit of the reservation's own resource class.
Each host has as many units of that class as slots, in the provider nested in the
host's (:mod:`climate.plugins.host.providers`). At the start, the project gets
access to the flavor. So the scheduler puts servers of that flavor, and no others,
onto those hosts, and no more than there are slots.

When a host fails and its slots move, the new host gets its slots at once. Servers
on the failed host stay as they are, with the slots that they hold. Free slots of
that host are removed at once, the others when ``check`` finds them free, or at the
end.
"""

from __future__ import annotations

import abc
import dataclasses
import datetime
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import ClassVar
from typing import TypeVar

from climate import exceptions
from climate.allocation import requirements
from climate.allocation import shares
from climate.cloud.base import Aggregate
from climate.cloud.base import Cloud
from climate.cloud.base import CloudNotFound
from climate.cloud.base import Flavor
from climate.cloud.base import Policy
from climate.cloud.base import Server
from climate.domain.holdings import HeldResource
from climate.domain.leases import Reservation
from climate.domain.nouns import Nouns
from climate.domain.resources import Resource
from climate.plugins import contract
from climate.plugins.host import nodes
from climate.plugins.host import providers
from climate.plugins.host.pools import HostPools
from climate.plugins.host.pools import HostSettings
from climate.plugins.instance import flavors
from climate.plugins.instance import names
from climate.plugins.instance import shares as instance_shares
from climate.plugins.instance import slots
from climate.plugins.instance import usage
from climate.plugins.instance.facts import InstanceFacts
from climate.plugins.instance.sweep import Leftovers

_AT_ONCE = datetime.timedelta(0)
# Nova notifies Placement shortly after a server is deleted. A consumer that holds a
# slot for longer than that, and is not a server, does not keep a lease from ending;
# ``sweep`` finds what is left.
_LINGERING = datetime.timedelta(seconds=30)
_PAUSE = datetime.timedelta(seconds=1)

R = TypeVar('R')


class Instances(contract.Configured[R, HostSettings]):
    """Leases slots on hosts that stay in the pool."""

    nouns: ClassVar[Nouns] = Nouns('server', 'servers')
    settings: ClassVar[type[HostSettings]] = HostSettings
    exclusive = False
    restarts: ClassVar[bool] = True
    yield_seconds: ClassVar[int] = 120
    prepares: ClassVar[bool] = True
    spreads: ClassVar[bool] = False
    """Whether its reservations can have a server group."""

    def __init__(self, settings: HostSettings | None = None) -> None:
        super().__init__(settings)
        self._pools = HostPools(self._settings)
        self._slots = slots.InstanceSlots(self._settings)

    @abc.abstractmethod
    def template(self, request: R) -> Flavor:
        """Return the sizes and the extra specs of the servers; names are ignored."""

    @abc.abstractmethod
    def demand(self, request: R) -> dict[str, int]:
        """Return the units of each resource class that a server takes."""

    def policy(self, request: R) -> Policy | None:
        """Return how the servers are distributed over hosts; None if it does not matter."""
        return None

    def makes(self, request: R) -> str | None:
        """Return the policy of the server group to create, if servers are together or apart.

        The caller's token creates it, since Nova lets a project use only its own
        groups. The slots are distributed correctly in any case; the group is for
        users who name it.
        """
        return self.policy(request)

    def make(self, reservation_id: str, request: R, cloud: Cloud) -> dict[str, Any]:
        """Create the server group; see :class:`climate.plugins.contract.Plugin`."""
        policy = self.policy(request)
        if policy is None:
            return {}
        return flavors.make_group(cloud, reservation_id, policy).dump()

    def unmake(
        self, reservation_id: str, project_id: str, facts: Mapping[str, Any], cloud: Cloud
    ) -> None:
        """Delete the server group; see :class:`climate.plugins.contract.Plugin`."""
        known = InstanceFacts.load(facts).server_group_id
        groups = flavors.named_groups(cloud, reservation_id, project_id)
        for group in groups:
            if known in (None, group.id):
                cloud.compute.delete_server_group(group.id)

    def leaves(self, reservation: Reservation) -> bool:
        """Whether there may be a server group."""
        wanted = self.policy(self.load(reservation.request))
        return wanted is not None or InstanceFacts.of(reservation).server_group_id is not None

    def instructions(
        self, reservation: Reservation, resources: Sequence[HeldResource]
    ) -> Sequence[contract.Instruction]:
        """Return how to create a server in a slot."""
        return usage.of(reservation)

    # -- effects

    def prepare(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Create the aggregate and the flavor, which the project cannot use yet."""
        facts, _, _ = self._ensure_objects(work, cloud, self.load(work.reservation.request))
        return contract.Done(facts=facts.changes(work.reservation))

    def start(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Give the hosts their slots, and the project access to the flavor.

        If the number of slots falls, those without a server are removed.

        :raises climate.exceptions.Permanent: if servers are in the way
        """
        request = self.load(work.reservation.request)
        kept = None
        if work.leaving and work.forced:
            going = self._evict(work, cloud)
            if going is not None:
                return going
        if work.leaving:
            kept, first = self._slots_to_keep(work, cloud, request)
            if first is not None:
                return first
        facts, aggregate, _ = self._ensure_objects(work, cloud, request)
        wanted = kept if kept is not None else self._suggested(work, request)
        self._slots.spread(work, cloud, aggregate, wanted)
        if work.leaving:
            self._check_unused(work, cloud, wanted)
        flavors.open_to_owner(work, cloud)
        facts = dataclasses.replace(facts, shrinking=())
        return contract.Done(facts=facts.changes(work.reservation), kept=kept)

    def check(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Repair what other users changed, and remove slots of failed hosts."""
        request = self.load(work.reservation.request)
        facts, aggregate, repaired = self._ensure_objects(work, cloud, request)
        repaired += self._slots.spread(work, cloud, aggregate, self._suggested(work, request))
        repaired += flavors.open_to_owner(work, cloud)
        return contract.Done(facts=facts.changes(work.reservation), repaired=tuple(repaired))

    def end(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Delete the servers, and then everything else; the hosts stay in the pool.

        Users lose access to the flavor before running servers are listed. The
        flavor is deleted last, since Nova finds its servers by it.
        """
        has_flavor = flavors.close_flavor(cloud, work.reservation.id)
        aggregate = cloud.compute.find_aggregate(work.reservation.id)
        going, held = self._servers(work, cloud, aggregate, has_flavor)
        for server in going.values():
            if server.task_state != 'deleting':
                cloud.compute.delete_server(server.id)
        if going:
            return self._pools.until_gone(work, list(going.values()), {})
        patient = work.now - work.since < _LINGERING
        if held and patient:
            return contract.Again(after=_PAUSE, why=f'{held} slots are still held')
        self._slots.remove(work, cloud, aggregate, leave_held=not patient)
        for group in flavors.groups(work, cloud) if self.spreads else ():
            cloud.compute.delete_server_group(group.id)
        cloud.compute.delete_flavor(work.reservation.id)
        facts = InstanceFacts(version=InstanceFacts.of(work.reservation).version)
        return contract.Done(facts=facts.changes(work.reservation))

    def occupied(self, reservation: Reservation, resource: Resource, cloud: Cloud) -> str:
        """Describe how many slots of a host are in use.

        Servers on a failed host are not in the way, since they stay there.
        """
        if resource.failed_at is not None:
            return ''
        name = names.resource_class(reservation.id)
        used = providers.used(cloud, resource.name, name)
        return f'{used} slots are in use' if used else ''

    def sweep(
        self, records: contract.Records, cloud: Cloud, *, dry_run: bool
    ) -> Iterator[contract.SweepFinding]:
        """Find what ended reservations of either kind left behind, and remove it."""
        return Leftovers(records, cloud, dry_run=dry_run).sweep()

    # -- parts of the effects

    def _ensure_objects(
        self, work: contract.Work, cloud: Cloud, request: R
    ) -> tuple[InstanceFacts, Aggregate, list[str]]:
        """Create or repair the objects that do not depend on the hosts."""
        policy = self.policy(request)
        facts = InstanceFacts.of(work.reservation)
        group_id = None
        if policy is not None or facts.server_group_id is not None:
            group_id = flavors.find_group(work, cloud, policy, facts)
        aggregate, repaired = self._slots.aggregate(work, cloud, group_id)
        wanted = names.flavor(
            self.template(request), work.reservation.id, group_id, self._settings.isolation
        )
        repaired += flavors.ensure_flavor(cloud, wanted)
        facts = dataclasses.replace(
            facts, aggregate_id=aggregate.id, server_group_id=group_id, other_server_groups=False
        )
        return facts, aggregate, repaired

    def _suggested(self, work: contract.Work, request: R) -> dict[int, int]:
        return shares.slots(work.allocations, self.demand(request))

    def _servers(
        self, work: contract.Work, cloud: Cloud, aggregate: Aggregate | None, has_flavor: bool
    ) -> tuple[dict[str, Server], int]:
        """Return the servers in the slots, and the number of slots held by other consumers.

        Nova's lists omit servers in a cell that does not respond, and servers of a
        deleted flavor with the same id. Placement knows what they hold; it is asked
        once all listed servers are gone.
        """
        holders: dict[str, Server] = {}
        if has_flavor:
            for server in cloud.compute.list_servers_of_flavor(work.reservation.id):
                holders[server.id] = server
        if holders:
            return holders, 0
        others = 0
        for consumer in self._holders(work, cloud, aggregate):
            holder = cloud.compute.find_server(consumer)
            if holder is None:
                others += 1
            else:
                holders[consumer] = holder
        return holders, others

    def _holders(self, work: contract.Work, cloud: Cloud, aggregate: Aggregate | None) -> list[str]:
        name = names.resource_class(work.reservation.id)
        holders = []
        for host in slots.scope(work, cloud, aggregate):
            provider = providers.find(cloud, host)
            if provider is not None:
                holders += [
                    each.consumer_id
                    for each in _allocations(cloud, provider.uuid)
                    if name in each.amounts
                ]
        return holders

    # -- fewer slots

    def _evict(self, work: contract.Work, cloud: Cloud) -> contract.Again | None:
        """Delete the servers in the slots to remove; None if there are none."""
        going = self._in_leaving_slots(work, cloud)
        for server in going:
            if server.task_state != 'deleting':
                cloud.compute.delete_server(server.id)
        if going:
            return self._pools.until_gone(work, going, {})
        used = self._slots.used(work, cloud)
        held = sum(used[item.resource_id] for item in work.leaving)
        if held and work.now - work.since < _LINGERING:
            return contract.Again(after=_PAUSE, why='slots are still held')
        return None

    def _in_leaving_slots(self, work: contract.Work, cloud: Cloud) -> list[Server]:
        servers = cloud.compute.list_servers_of_flavor(work.reservation.id)
        gone = {item.resource_id for item in work.leaving}
        going: list[Server] = []
        for resource in work.resources:
            if resource.id in gone:
                host = nodes.service_host(resource)
                there = tuple(server for server in servers if server.host == host)
                going += nodes.divide(cloud, there, host, {resource.name}).here
        return going

    def _slots_to_keep(
        self, work: contract.Work, cloud: Cloud, request: R
    ) -> tuple[dict[int, int] | None, contract.Again | None]:
        """Return the slots that a reservation keeps when it loses some.

        :returns: slots by resource id, None if they are as suggested; and the
            outcome to return first, or None
        :raises climate.exceptions.Permanent: if servers are in the way
        """
        search = self.search(request)
        wanted = self._suggested(work, request)
        leaving = shares.slots(work.leaving, search.demand)
        had = {
            number: wanted.get(number, 0) + leaving.get(number, 0)
            for number in wanted.keys() | leaving.keys()
        }
        used = self._slots.used(work, cloud)
        known = {resource.id or 0: resource for resource in work.resources}
        # Servers on a failed host are not in the way.
        busy = {number: used[number] for number in sorted(had) if not known[number].failed_at}
        if all(busy.get(number, 0) <= wanted.get(number, 0) for number in had):
            return None, None
        facts = InstanceFacts.of(work.reservation)
        mark = tuple(sorted(leaving.items()))
        begun = facts.shrinking == mark
        kept = None
        if begun or self._only_shrinks(work, cloud, wanted):
            most = {
                number: had[number] if _suits(search, known[number]) else wanted.get(number, 0)
                for number in had
            }
            kept = instance_shares.keep(wanted, most, busy)
        if kept is None:
            raise exceptions.Permanent(
                'servers use the slots that would have to be removed: '
                + ', '.join(f'{busy[number]} on {known[number].name}' for number in busy)
            )
        if not begun:
            # Recorded first: once slots are removed, a repeated effect can no longer
            # see that the change only shrinks the reservation.
            return (
                kept,
                contract.Again(
                    after=_AT_ONCE,
                    why='other slots are kept',
                    facts=dataclasses.replace(facts, shrinking=mark).changes(work.reservation),
                ),
            )
        return kept, None

    def _only_shrinks(self, work: contract.Work, cloud: Cloud, wanted: dict[int, int]) -> bool:
        """Whether no slot has to be added: all those to keep exist."""
        totals = self._slots.totals(work, cloud)
        return all(totals[number] >= count for number, count in wanted.items())

    def _check_unused(self, work: contract.Work, cloud: Cloud, wanted: dict[int, int]) -> None:
        """Make sure that no server took a slot while it was being removed.

        :raises climate.exceptions.Transient: if one did
        """
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


def _suits(search: contract.Search, resource: Resource) -> bool:
    """Whether a host can still have slots of a reservation."""
    properties = {**resource.attributes, **resource.capabilities}
    return (
        resource.failed_at is None
        and not resource.disabled
        and requirements.matches(search.requirement, properties, resource.traits)
        and search.required_traits <= resource.traits
        and not search.forbidden_traits & resource.traits
    )
