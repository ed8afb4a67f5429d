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
from tests.unit.plugins.effect_runners import OTHER
from tests.unit.plugins.effect_runners import OWNER
from tests.unit.plugins.effect_runners import RESERVATION
from tests.unit.plugins.effect_runners import When
from tests.unit.plugins.instance_effect_runner import InstanceEffectRunner
from tests.unit.plugins.instance_effect_runner import RESOURCE_CLASS
from tests.unit.plugins.instance_effect_runner import SIZE
from tests.unit.plugins.instance_effect_runner import SOURCE

ALL = {'compute-1', 'compute-2', 'compute-3'}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """An effect in a situation.

    :ivar given: brings a new runner into the situation
    :ivar slots: by number of the host, afterwards
    """

    effect: str
    given: Callable[[], InstanceEffectRunner]
    slots: dict[int, int]


def booked() -> InstanceEffectRunner:
    """Nothing has happened yet."""
    runner = InstanceEffectRunner(dataclasses.replace(SIZE, affinity=False))
    runner.neighbour()
    return runner


def of_flavor() -> InstanceEffectRunner:
    """The same for a flavor, where Placement keeps others off."""
    return InstanceEffectRunner(
        FlavorRequest(flavor_id='gold', amount=3, source=SOURCE), Isolation.PLACEMENT
    )


def prepared() -> InstanceEffectRunner:
    """What can be made ahead is there."""
    runner = booked()
    runner.run('prepare')
    return runner


def prepared_otherwise() -> InstanceEffectRunner:
    """It was made ahead, and then other sizes were wanted, and no group."""
    runner = prepared()
    runner.request = dataclasses.replace(SIZE, vcpus=1)
    return runner


def active() -> InstanceEffectRunner:
    """The reservation is active, and its owner makes use of it."""
    return booked().started(2)


def active_flavor() -> InstanceEffectRunner:
    """The same for a flavor."""
    return of_flavor().started(2)


def grown() -> InstanceEffectRunner:
    """It gets a slot more on the second host, and one on the third."""
    runner = active()
    runner.mine = {1: 2, 2: 2, 3: 1}
    return runner


def shrunk() -> InstanceEffectRunner:
    """One slot that nobody uses goes."""
    runner = active()
    runner.shrink({1: 2})
    return runner


def shrunk_elsewhere() -> InstanceEffectRunner:
    """A slot that is in use was to go; there is another."""
    runner = booked().started(3)
    runner.delete('own-1')
    runner.shrink({1: 2})
    return runner


def failed() -> InstanceEffectRunner:
    """The second host has failed with a server; its slot goes to the third."""
    runner = booked().started(3)
    runner.cloud.set_hypervisor('compute-2', state='down')
    runner.resources = tuple(
        dataclasses.replace(each, failed_at=runner.clock.now()) if each.id == 2 else each
        for each in runner.resources
    )
    runner.mine, runner.leaving = {1: 2, 3: 1}, {2: 1}
    return runner


def drifted() -> InstanceEffectRunner:
    """An operator has changed all there is."""
    runner = active()
    compute, placement = runner.cloud.compute, runner.cloud.placement
    aggregate = runner.present()
    compute.remove_host(aggregate.id, 'compute-2')
    compute.add_host(aggregate.id, 'compute-3')
    compute.set_aggregate_metadata(aggregate.id, {'reservation': 'x', 'blazar:owner': OTHER})
    compute.remove_host(runner.pool().id, 'compute-2')
    compute.set_extra_specs(RESERVATION, {f'resources:{RESOURCE_CLASS}': '2', 'own': 'x'})
    compute.remove_flavor_access(RESERVATION, OWNER)
    compute.delete_server_group(runner.facts['server_group_id'])
    placement.delete_provider(runner.provider('blazar_compute-2').uuid)
    return runner


def without_flavor() -> InstanceEffectRunner:
    """Somebody has deleted the flavor while servers of it run."""
    runner = active()
    runner.cloud.compute.delete_flavor(RESERVATION)
    return runner


def without_aggregate() -> InstanceEffectRunner:
    """Somebody has deleted the aggregate, and the third host has slots."""
    runner = grown().started()
    runner.mine = {1: 2, 2: 2}
    runner.delete_aggregate(runner.present())
    return runner


def hidden() -> InstanceEffectRunner:
    """Nova does not list the servers, for their flavor was made anew."""
    runner = without_flavor()
    runner.run('check')
    return runner


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

    def finish(self, case: Case, runner: InstanceEffectRunner, cloud: Cloud) -> None:
        """Run the case to its end, with all that must hold meanwhile."""
        own = {each.name for each in runner.cloud.servers() if each.project_id == OWNER}
        others = {each.name for each in runner.cloud.servers() if each.project_id == OTHER}

        def watch() -> None:
            names = {each.name for each in runner.cloud.servers()}
            self.assertLessEqual(others, names)
            if case.effect != 'end':
                self.assertLessEqual(own, names)

        runner.run(case.effect, cloud, watch)
        self.right(case, runner)

    def right(self, case: Case, runner: InstanceEffectRunner) -> None:
        self.assertEqual(case.slots, runner.slots())
        if case.effect == 'end':
            self.assertEqual([], runner.left())
            self.assertIsNone(runner.aggregate())
            self.assertEqual({}, runner.facts)
            return
        self.assertLessEqual(ALL, runner.pooled())
        aggregate = runner.present()
        group = runner.facts.get('server_group_id')
        self.assertEqual(aggregate.id, runner.facts['aggregate_id'])
        self.assertEqual({f'compute-{number}' for number in case.slots}, set(aggregate.hosts))
        self.assertIsNone(aggregate.availability_zone)
        marks = {'reservation': RESERVATION, 'filter_tenant_id': OWNER, 'blazar:owner': OWNER}
        self.assertEqual(marks | ({'affinity_id': group} if group else {}), aggregate.metadata)
        self.check_flavor(runner, group, {OWNER} if case.effect != 'prepare' else set())
        groups = runner.cloud.compute.list_server_groups()
        self.assertEqual([group] if group else [], [each.id for each in groups])
        self.assertNotIn('shrinking', runner.facts)

    def check_flavor(
        self, runner: InstanceEffectRunner, group: str | None, projects: set[str]
    ) -> None:
        compute = runner.cloud.compute
        flavor = compute.find_flavor(RESERVATION)
        wanted = instance_names.flavor(
            runner.plugin.template(runner.request), RESERVATION, group, runner.settings.isolation
        )
        self.assertEqual(wanted, flavor)
        self.assertEqual(projects, compute.list_flavor_access(RESERVATION))

    def nothing_left(self, runner: InstanceEffectRunner) -> None:
        self.assertEqual([], runner.left())

    def moments(self, verb: str) -> tuple[When, ...]:
        return every_call.that_matter(verb)
