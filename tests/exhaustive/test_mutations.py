# SPDX-License-Identifier: Apache-2.0

"""Defects that the walk has to find: each is made by hand, and one scenario complains."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any

import fixtures

from climate import exceptions
from climate.plugins import contract
from climate.plugins.floating_ip import effects
from climate.plugins.floating_ip import plugin as floating_ip_plugin
from climate.plugins.host import plugin as host_plugin
from climate.plugins.host import pools
from climate.plugins.instance import by_size
from climate.plugins.network import effects as network_effects
from climate.plugins.network import plugin as network_plugin
from climate.plugins.volume import plugin as volume_plugin
from climate.testing import walker
from tests import base
from tests.functional.manager.walk import kinds
from tests.functional.manager.walk.deployment import WalkDeployment


class Without:
    """A cloud, or a part of it, in which some verbs do nothing."""

    def __init__(self, real: Any, *verbs: str) -> None:
        self._real = real
        self._verbs = verbs

    def __getattr__(self, name: str) -> Any:
        if name in self._verbs:
            nothing = () if name.startswith('list_') else None
            return lambda *_args, **_facts: nothing
        found = getattr(self._real, name)
        return Without(found, *self._verbs) if name in ('compute', 'network', 'volume') else found


def _without(*verbs: str) -> Callable[[Any], Any]:
    def mutate(effect: Any) -> Any:
        return lambda self, work, cloud: effect(self, work, Without(cloud, *verbs))

    return mutate


def _swallowing(error: type[Exception]) -> Callable[[Any], Any]:
    """Let an effect say that all is done whatever fails in this way."""

    def mutate(effect: Any) -> Any:
        def careless(self: Any, work: Any, cloud: Any) -> Any:
            with contextlib.suppress(error):
                return effect(self, work, cloud)
            return contract.Done()

        return careless

    return mutate


def _giving_up(effect: Any) -> Any:
    """Let an effect take each failure for one that never passes."""

    def hasty(self: Any, work: Any, cloud: Any) -> Any:
        try:
            return effect(self, work, cloud)
        except exceptions.Transient as error:
            raise exceptions.Permanent(error.message) from error

    return hasty


def _keeping_what_was_undone(effect: Any) -> Any:
    return lambda self, work, cloud: effect(self, dataclasses.replace(work, undone=()), cloud)


def _taking_no_answer_for_nothing(look: Any) -> Any:
    def blind(self: Any, resource: Any, *, keepable: bool) -> Any:
        try:
            return look(self, resource, keepable=keepable)
        except exceptions.Transient:
            self._neutron = Without(self._neutron, 'find_floating_ip', 'list_floating_ips')
            return look(self, resource, keepable=keepable)

    return blind


def _nothing(*_args: Any, **_facts: Any) -> None:
    """Do nothing."""


def _saying_that_all_is_removed(self: Any) -> contract.Done:
    return contract.Done(facts={'floating_ips': None})


def _never_looking(present: Any) -> Any:
    return lambda self, resource, repaired: self._made(network_effects.of(resource.attributes))


@dataclasses.dataclass(frozen=True)
class Defect:
    """A defect, and the scenario that finds it.

    :ivar place: the class whose method is changed
    :ivar mutate: returns the method as it is with the defect
    """

    kind: str
    scenario: str
    place: type[Any]
    method: str
    mutate: Callable[[Any], Any]


_FIP = 'virtual:floatingip'
DEFECTS = {
    'forgets_to_release': Defect(
        _FIP, 'end', effects.AddressEffects, 'remove', lambda _: _saying_that_all_is_removed
    ),
    'ends_although_a_call_failed': Defect(
        _FIP, 'end', floating_ip_plugin.FloatingIP, 'end', _swallowing(exceptions.Transient)
    ),
    'takes_no_answer_for_nothing': Defect(
        _FIP, 'end', effects.AddressEffects, '_look', _taking_no_answer_for_nothing
    ),
    'gives_up_after_one_failure': Defect(
        _FIP, 'start', floating_ip_plugin.FloatingIP, 'start', _giving_up
    ),
    'keeps_what_a_change_had_added': Defect(
        _FIP, 'undo grow', floating_ip_plugin.FloatingIP, 'start', _keeping_what_was_undone
    ),
    'leaves_what_a_sweep_would_find': Defect(
        _FIP, 'sweep', floating_ip_plugin.FloatingIP, 'sweep', lambda _: lambda *_args, **_facts: ()
    ),
    'starts_although_it_was_refused': Defect(
        'network', 'start', network_plugin.NetworkPlugin, 'start', _swallowing(exceptions.Permanent)
    ),
    'does_not_look_before_it_makes': Defect(
        'network', 'start', network_effects.Segments, '_present', _never_looking
    ),
    'leaves_the_network': Defect(
        'network', 'end', network_plugin.NetworkPlugin, 'end', _without('delete_network')
    ),
    'undo_leaves_the_aggregate': Defect(
        'physical:host', 'start', host_plugin.PhysicalHost, 'end', _without('delete_aggregate')
    ),
    'puts_no_host_back': Defect(
        'physical:host', 'end', pools.HostPools, '_pool', lambda _: _nothing
    ),
    'lets_servers_stay': Defect(
        'physical:host', 'end', host_plugin.PhysicalHost, 'end', _without('delete_server')
    ),
    'leaves_the_flavor': Defect(
        'virtual:instance', 'end', by_size.VirtualInstance, 'end', _without('delete_flavor')
    ),
    'leaves_the_volume': Defect(
        'virtual:volume', 'end', volume_plugin.VirtualVolume, 'end', _without('delete_volume')
    ),
}


@base.test_each(DEFECTS)
class TestMutations(base.TestCase):
    """A test for each defect."""

    def check(self, name: str) -> None:
        """Make a defect, and walk until something is not as it should be."""
        defect = DEFECTS[name]
        mutated = defect.mutate(getattr(defect.place, defect.method))
        place = f'{defect.place.__module__}.{defect.place.__qualname__}.{defect.method}'
        self.useFixture(fixtures.MonkeyPatch(place, mutated))
        self.assertIsNotNone(next(self.complaints(defect), None), 'nothing is wrong with it')

    def test_without_a_defect_nothing_is_wrong(self) -> None:
        same = dataclasses.replace(DEFECTS['leaves_the_network'], mutate=lambda effect: effect)
        self.assertEqual([], list(self.complaints(same)))

    def complaints(self, defect: Defect) -> Iterator[str]:
        """Walk through the scenario of the defect."""
        kind = kinds.KINDS[defect.kind]
        (scenario,) = (each for each in walker.scenarios(kind) if each.name == defect.scenario)
        yield from walker.Walk(self.useFixture(WalkDeployment()), kind, scenario).complaints()
