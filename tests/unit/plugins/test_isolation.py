# SPDX-License-Identifier: Apache-2.0

"""The marks by which Nova keeps others off, and that no host is ever open."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import hypothesis
from hypothesis import strategies as st
from oslo_config import cfg

from climate import conf as climate_conf
from climate.cloud.base import Aggregate
from climate.conf import nova
from climate.plugins.host import isolation
from climate.plugins.host import options as host_options
from climate.plugins.host.isolation import Isolation
from climate.plugins.host.isolation import Marking
from climate.plugins.host.plugin import PhysicalHost
from tests import base
from tests import landing
from tests.narrowing import present
from tests.unit.plugins import test_host_effects as effects
from tests.unit.plugins.world import OTHER
from tests.unit.plugins.world import OWNER
from tests.unit.plugins.world import RESERVATION
from tests.unit.plugins.world import Stumble
from tests.unit.plugins.world import When
from tests.unit.plugins.world import World

CLOSED = {'filter_tenant_id': 'climate:nobody', 'trait:CUSTOM_CLIMATE_FREEPOOL': 'required'}
POOL: dict[Isolation, dict[str, str]] = {
    Isolation.FILTER: {},
    Isolation.PLACEMENT: CLOSED,
    Isolation.BOTH: CLOSED,
}
LEASE = {
    Isolation.FILTER: {'blazar:owner': OWNER},
    Isolation.PLACEMENT: {'filter_tenant_id': OWNER},
    Isolation.BOTH: {'blazar:owner': OWNER, 'filter_tenant_id': OWNER},
}
TEXTS = st.dictionaries(
    st.sampled_from(['a', 'b', 'c', 'd', 'e']), st.sampled_from(['1', '2', '3']), max_size=5
)


class Guard(Stumble):
    """A cloud that is looked at after every call.

    :ivar opened: hosts that others could land on, with the call that opened them
    """

    def __init__(self, world: World, nth: int = 0, when: When = 'before') -> None:
        super().__init__(world.cloud, nth, when)
        self._world = world
        self.opened: list[tuple[str, str]] = []
        self._open = self._now()

    def _now(self) -> set[str]:
        return {
            host.name
            for host in self._world.resources
            if landing.may_land(
                OTHER, host.name, self._world.cloud.aggregates(), self._world.settings.isolation
            )
        }

    def call(self, name: str, verb: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Call a verb, and note what it opened."""
        try:
            return super().call(name, verb, arguments)
        finally:
            now = self._now()
            self.opened += [(host, name) for host in now - self._open]
            self._open = now


def metadata(world: World) -> dict[str, dict[str, str]]:
    """Return the metadata of each aggregate, by its name."""
    return {item.name: dict(item.metadata) for item in world.cloud.aggregates()}


def expected(world: World) -> dict[str, dict[str, str]]:
    """Return the metadata that each aggregate should have."""
    pool = {'freepool': POOL[world.settings.isolation]}
    lease = {RESERVATION: LEASE[world.settings.isolation]}
    return pool if world.aggregate() is None else pool | lease


class TestMarking(base.TestCase):
    """What has to change, and what is left alone."""

    @hypothesis.given(present=TEXTS, wanted=TEXTS, left=TEXTS)
    def test_changes(
        self, present: dict[str, str], wanted: dict[str, str], left: dict[str, str]
    ) -> None:
        unwanted = {key: value for key, value in left.items() if key not in wanted}
        marking = Marking(wanted=wanted, unwanted=unwanted)
        after = {**present, **marking.changes(present)}
        for key, value in wanted.items():
            self.assertEqual(value, after[key])
        for key, value in present.items():
            if key not in wanted:
                gone = unwanted.get(key) == value
                self.assertEqual(None if gone else value, after[key])
        kept = {key: value for key, value in after.items() if value is not None}
        self.assertEqual({}, marking.changes(kept))

    def test_words(self) -> None:
        for mode in Isolation:
            self.assertEqual(POOL[mode], isolation.of_pool(mode).wanted)
            self.assertEqual(LEASE[mode], isolation.of_lease(mode, 'blazar:owner', OWNER).wanted)

    def test_option(self) -> None:
        for given, mode in (
            (None, Isolation.FILTER),
            ('filter', Isolation.FILTER),
            ('placement', Isolation.PLACEMENT),
            ('both', Isolation.BOTH),
        ):
            options = cfg.ConfigOpts()
            climate_conf.register_opts(options, nova, host_options)
            options([])
            if given is not None:
                options.set_override('isolation', given, group='physical:host')
            world = World()
            world.plugin = PhysicalHost.from_conf(options)
            world.settings = dataclasses.replace(world.settings, isolation=mode)
            world.run('start')
            self.assertEqual(expected(world), metadata(world), given)


class EveryMode(base.TestCase):
    """Runs the cases of effects, whatever Nova is configured for."""

    def tried(
        self, mode: Isolation, case: effects.Case, nth: int = 0, when: When = 'after'
    ) -> None:
        """Run a case to its end, with a look at the cloud after each call."""
        world = self.given(mode, case)
        guard = Guard(world, nth, when)
        world.run(case.effect, guard)
        where = f'{mode}: {case.effect} of {case.given.__name__}: {nth} {when}'
        self.assertEqual([], guard.opened, where)
        self.assertEqual(case.places, world.places(), where)
        if case.effect in ('start', 'check'):
            for name, words in expected(world).items():
                self.assertLessEqual(words.items(), metadata(world)[name].items(), where)

    def given(self, mode: Isolation, case: effects.Case) -> World:
        world = case.given()
        world.configure(mode)
        world.mark()
        return world

    def calls(self, mode: Isolation, case: effects.Case) -> int:
        world = self.given(mode, case)
        stumble = Stumble(world.cloud)
        world.run(case.effect, stumble)
        return len(stumble.made)


class TestEveryMode(EveryMode):
    """Whatever Nova is configured for: marks are right, and nothing is open."""

    def test_each_effect(self) -> None:
        for mode in Isolation:
            for case in effects.CASES:
                self.tried(mode, case)

    def test_only_the_owner(self) -> None:
        for mode in Isolation:
            world = World()
            world.configure(mode)
            world.plugin.admit(world.resources[0], world.cloud)
            for effect, mine in (
                ('prepare', set()),
                ('start', {'compute-1', 'compute-2'}),
                ('check', {'compute-1', 'compute-2'}),
                ('end', set()),
            ):
                world.run(effect)
                self.assertEqual(mine, self.landed(world, OWNER), (mode, effect))
                self.assertEqual(set(), self.landed(world, OTHER), (mode, effect))
            self.assertEqual({'freepool': POOL[mode]}, metadata(world))

    def landed(self, world: World, project: str) -> set[str]:
        there: tuple[Aggregate, ...] = world.cloud.aggregates()
        return {
            host.name
            for host in world.resources
            if landing.may_land(project, host.name, there, world.settings.isolation)
        }

    def test_the_marks_are_there_before_the_first_host(self) -> None:
        for mode in Isolation:
            world = World()
            world.put('compute-1')
            world.configure(mode)
            stumble = Stumble(world.cloud)
            world.plugin.admit(world.resources[0], stumble)
            marked = ['set_aggregate_metadata'] if POOL[mode] else []
            made = [name for name in stumble.changes if 'trait' not in name]
            self.assertEqual([*marked, 'add_host'], made, mode)
            stumble = Stumble(world.cloud)
            world.run('start', stumble)
            self.assertEqual(
                ['create_aggregate', 'set_aggregate_metadata', *['add_host', 'remove_host'] * 2],
                stumble.changes,
                mode,
            )

    def test_a_start_looks_as_often_in_every_mode(self) -> None:
        made = []
        for mode in Isolation:
            world = World()
            world.configure(mode)
            world.mark()
            stumble = Stumble(world.cloud)
            world.run('start', stumble)
            made.append(stumble.made)
        self.assertEqual([made[0]] * 3, made)


class TestDrift(base.TestCase):
    """Marks that somebody else changed are put right; what is not ours stays."""

    def leased(self, mode: Isolation) -> World:
        world = World()
        world.configure(mode)
        world.run('start')
        return world

    def test_repair(self) -> None:
        for mode in Isolation:
            for name, words in (('freepool', POOL[mode]), (RESERVATION, LEASE[mode])):
                for key in words:
                    for value in (None, OTHER):
                        world = self.leased(mode)
                        self.scribble(world, name, {key: value})
                        done = world.run('check')
                        self.assertEqual(expected(world), metadata(world))
                        (line,) = done.repaired
                        self.assert_contains(line, key, name)
                        self.assertEqual((), world.run('check').repaired)

    def test_what_is_not_ours_stays(self) -> None:
        for mode in Isolation:
            world = self.leased(mode)
            added: dict[str, str | None] = {'filter_tenant_id_friends': OTHER, 'rack': '7'}
            for name in ('freepool', RESERVATION):
                self.scribble(world, name, added)
            self.assertEqual((), world.run('check').repaired)
            for name in ('freepool', RESERVATION):
                self.assertLessEqual(added.items(), metadata(world)[name].items())

    def test_an_isolation_of_the_operator_outlives_ours(self) -> None:
        world = self.leased(Isolation.PLACEMENT)
        self.scribble(world, 'freepool', {'filter_tenant_id': 'preemptible'})
        world.configure(Isolation.FILTER)
        world.run('check')
        self.assertEqual({'filter_tenant_id': 'preemptible'}, metadata(world)['freepool'])

    def scribble(self, world: World, name: str, words: dict[str, str | None]) -> None:
        aggregate = present(world.cloud.compute.find_aggregate(name))
        world.cloud.compute.set_aggregate_metadata(aggregate.id, words)


class TestChange(base.TestCase):
    """Another isolation is configured while leases run."""

    def test_the_next_check_brings_it_into_line(self) -> None:
        for before in Isolation:
            for after in Isolation:
                for effect in ('check', 'start'):
                    world = World()
                    world.configure(before)
                    world.run('start')
                    world.configure(after)
                    done = world.run(effect)
                    self.assertEqual(expected(world), metadata(world), (before, after))
                    self.assertEqual(before is after or effect == 'start', done.repaired == ())
                    world.run('end')
                    self.assertEqual({'freepool': POOL[after]}, metadata(world))

    def test_the_way_over_both_opens_nothing(self) -> None:
        """Either configuration of Nova is safe while the aggregates have both marks."""
        for first, last in (
            (Isolation.FILTER, Isolation.PLACEMENT),
            (Isolation.PLACEMENT, Isolation.FILTER),
        ):
            world = World()
            world.configure(first)
            world.run('start')
            world.configure(Isolation.BOTH)
            world.run('check')
            for nova_has in (first, Isolation.BOTH, last):
                for host, owned in (('compute-1', True), ('compute-3', False)):
                    there = world.cloud.aggregates()
                    self.assertFalse(landing.may_land(OTHER, host, there, nova_has))
                    self.assertEqual(owned, landing.may_land(OWNER, host, there, nova_has))
