# SPDX-License-Identifier: Apache-2.0

"""Reservations of instances in the cloud, whatever fails."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from climate.cloud.base import Cloud
from climate.plugins.host.isolation import Isolation
from climate.plugins.instance import names as instance_names
from climate.plugins.instance.by_flavor import FlavorRequest
from tests.unit.plugins import every_call
from tests.unit.plugins.instance_world import InstanceWorld
from tests.unit.plugins.instance_world import RESOURCE_CLASS
from tests.unit.plugins.instance_world import SIZE
from tests.unit.plugins.instance_world import SOURCE
from tests.unit.plugins.world import OTHER
from tests.unit.plugins.world import OWNER
from tests.unit.plugins.world import RESERVATION
from tests.unit.plugins.world import When

ALL = {'compute-1', 'compute-2', 'compute-3'}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """An effect in a situation.

    :ivar given: brings a new world into the situation
    :ivar slots: by number of the host, afterwards
    """

    effect: str
    given: Callable[[], InstanceWorld]
    slots: dict[int, int]


def booked() -> InstanceWorld:
    """Nothing has happened yet."""
    world = InstanceWorld(dataclasses.replace(SIZE, affinity=False))
    world.neighbour()
    return world


def of_flavor() -> InstanceWorld:
    """The same for a flavor, where Placement keeps others off."""
    return InstanceWorld(
        FlavorRequest(flavor_id='gold', amount=3, source=SOURCE), Isolation.PLACEMENT
    )


def prepared() -> InstanceWorld:
    """What can be made ahead is there."""
    world = booked()
    world.run('prepare')
    return world


def prepared_otherwise() -> InstanceWorld:
    """It was made ahead, and then other sizes were wanted, and no group."""
    world = prepared()
    world.request = dataclasses.replace(SIZE, vcpus=1)
    return world


def active() -> InstanceWorld:
    """The reservation is active, and its owner makes use of it."""
    return booked().started(2)


def active_flavor() -> InstanceWorld:
    """The same for a flavor."""
    return of_flavor().started(2)


def grown() -> InstanceWorld:
    """It gets a slot more on the second host, and one on the third."""
    world = active()
    world.mine = {1: 2, 2: 2, 3: 1}
    return world


def shrunk() -> InstanceWorld:
    """One slot that nobody uses goes."""
    world = active()
    world.shrink({1: 2})
    return world


def shrunk_elsewhere() -> InstanceWorld:
    """A slot that is in use was to go; there is another."""
    world = booked().started(3)
    world.delete('own-1')
    world.shrink({1: 2})
    return world


def failed() -> InstanceWorld:
    """The second host has failed with a server; its slot goes to the third."""
    world = booked().started(3)
    world.cloud.set_hypervisor('compute-2', state='down')
    world.resources = tuple(
        dataclasses.replace(each, failed_at=world.clock.now()) if each.id == 2 else each
        for each in world.resources
    )
    world.mine, world.leaving = {1: 2, 3: 1}, {2: 1}
    return world


def drifted() -> InstanceWorld:
    """An operator has changed all there is."""
    world = active()
    compute, placement = world.cloud.compute, world.cloud.placement
    aggregate = world.present()
    compute.remove_host(aggregate.id, 'compute-2')
    compute.add_host(aggregate.id, 'compute-3')
    compute.set_aggregate_metadata(aggregate.id, {'reservation': 'x', 'blazar:owner': OTHER})
    compute.remove_host(world.pool().id, 'compute-2')
    compute.set_extra_specs(RESERVATION, {f'resources:{RESOURCE_CLASS}': '2', 'own': 'x'})
    compute.remove_flavor_access(RESERVATION, OWNER)
    compute.delete_server_group(world.facts['server_group_id'])
    placement.delete_provider(world.provider('blazar_compute-2').uuid)
    return world


def without_flavor() -> InstanceWorld:
    """Somebody has deleted the flavor while servers of it run."""
    world = active()
    world.cloud.compute.delete_flavor(RESERVATION)
    return world


def without_aggregate() -> InstanceWorld:
    """Somebody has deleted the aggregate, and the third host has slots."""
    world = grown().started()
    world.mine = {1: 2, 2: 2}
    world.delete_aggregate(world.present())
    return world


def hidden() -> InstanceWorld:
    """Nova does not list the servers, for their flavor was made anew."""
    world = without_flavor()
    world.run('check')
    return world


BOOKED = {1: 2, 2: 1}
CASES = (
    Case(effect='prepare', given=booked, slots={}),
    Case(effect='prepare', given=of_flavor, slots={}),
    Case(effect='start', given=booked, slots=BOOKED),
    Case(effect='start', given=of_flavor, slots=BOOKED),
    Case(effect='start', given=prepared, slots=BOOKED),
    Case(effect='start', given=prepared_otherwise, slots=BOOKED),
    Case(effect='start', given=grown, slots={1: 2, 2: 2, 3: 1}),
    Case(effect='start', given=shrunk, slots={1: 2}),
    Case(effect='start', given=shrunk_elsewhere, slots={1: 1, 2: 1}),
    Case(effect='start', given=failed, slots={1: 2, 2: 1, 3: 1}),
    Case(effect='check', given=active, slots=BOOKED),
    Case(effect='check', given=active_flavor, slots=BOOKED),
    Case(effect='check', given=drifted, slots=BOOKED),
    Case(effect='check', given=without_flavor, slots=BOOKED),
    Case(effect='end', given=booked, slots={}),
    Case(effect='end', given=prepared, slots={}),
    Case(effect='end', given=active, slots={}),
    Case(effect='end', given=active_flavor, slots={}),
    Case(effect='end', given=grown, slots={}),
    Case(effect='end', given=drifted, slots={}),
    Case(effect='end', given=failed, slots={}),
    Case(effect='end', given=without_flavor, slots={}),
    Case(effect='end', given=without_aggregate, slots={}),
    Case(effect='end', given=hidden, slots={}),
)


class TestEveryCase(every_call.EveryCase):
    """Whichever call fails, the cloud is in the end as it should be."""

    cases = CASES
    beginnings = (booked, of_flavor, prepared)
    least = 400
    # These are not looked for before they are removed.
    blind = frozenset({'remove_inventory', 'delete_resource_class', 'delete_flavor'})

    def finish(self, case: Case, world: InstanceWorld, cloud: Cloud) -> None:
        """Run the case to its end, with all that must hold meanwhile."""
        own = {each.name for each in world.cloud.servers() if each.project_id == OWNER}
        others = {each.name for each in world.cloud.servers() if each.project_id == OTHER}

        def watch() -> None:
            names = {each.name for each in world.cloud.servers()}
            self.assertLessEqual(others, names)
            if case.effect != 'end':
                self.assertLessEqual(own, names)

        world.run(case.effect, cloud, watch)
        self.right(case, world)

    def right(self, case: Case, world: InstanceWorld) -> None:
        self.assertEqual(case.slots, world.slots())
        if case.effect == 'end':
            self.assertEqual([], world.left())
            self.assertIsNone(world.aggregate())
            self.assertEqual({}, world.facts)
            return
        self.assertLessEqual(ALL, world.pooled())
        aggregate = world.present()
        group = world.facts.get('server_group_id')
        self.assertEqual(aggregate.id, world.facts['aggregate_id'])
        self.assertEqual({f'compute-{number}' for number in case.slots}, set(aggregate.hosts))
        self.assertIsNone(aggregate.availability_zone)
        marks = {'reservation': RESERVATION, 'filter_tenant_id': OWNER, 'blazar:owner': OWNER}
        self.assertEqual(marks | ({'affinity_id': group} if group else {}), aggregate.metadata)
        self.check_flavor(world, group, {OWNER} if case.effect != 'prepare' else set())
        groups = world.cloud.compute.list_server_groups()
        self.assertEqual([group] if group else [], [each.id for each in groups])
        self.assertNotIn('shrinking', world.facts)

    def check_flavor(self, world: InstanceWorld, group: str | None, projects: set[str]) -> None:
        compute = world.cloud.compute
        flavor = compute.find_flavor(RESERVATION)
        wanted = instance_names.flavor(
            world.plugin.template(world.request), RESERVATION, group, world.settings.isolation
        )
        self.assertEqual(wanted, flavor)
        self.assertEqual(projects, compute.list_flavor_access(RESERVATION))

    def nothing_left(self, world: InstanceWorld) -> None:
        self.assertEqual([], world.left())

    def moments(self, verb: str) -> tuple[When, ...]:
        return every_call.that_matter(verb)
