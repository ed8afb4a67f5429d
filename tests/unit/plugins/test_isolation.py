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
from tests.unit.plugins.effect_runners import FailingCallCloud
from tests.unit.plugins.effect_runners import HostEffectRunner
from tests.unit.plugins.effect_runners import OTHER
from tests.unit.plugins.effect_runners import OWNER
from tests.unit.plugins.effect_runners import RESERVATION
from tests.unit.plugins.effect_runners import When

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


class Guard(FailingCallCloud):
    """A cloud that is looked at after every call.

    :ivar opened: hosts that others could land on, with the call that opened them
    """

    def __init__(self, runner: HostEffectRunner, nth: int = 0, when: When = 'before') -> None:
        super().__init__(runner.cloud, nth, when)
        self._runner = runner
        self.opened: list[tuple[str, str]] = []
        self._open = self._now()

    def _now(self) -> set[str]:
        return {
            host.name
            for host in self._runner.resources
            if landing.may_land(
                OTHER, host.name, self._runner.cloud.aggregates(), self._runner.settings.isolation
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


def metadata(runner: HostEffectRunner) -> dict[str, dict[str, str]]:
    """Return the metadata of each aggregate, by its name."""
    return {item.name: dict(item.metadata) for item in runner.cloud.aggregates()}


def expected(runner: HostEffectRunner) -> dict[str, dict[str, str]]:
    """Return the metadata that each aggregate should have."""
    pool = {'freepool': POOL[runner.settings.isolation]}
    lease = {RESERVATION: LEASE[runner.settings.isolation]}
    return pool if runner.aggregate() is None else pool | lease


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
            runner = HostEffectRunner()
            runner.plugin = PhysicalHost.from_conf(options)
            runner.settings = dataclasses.replace(runner.settings, isolation=mode)
            runner.run('start')
            self.assertEqual(expected(runner), metadata(runner), given)


class EveryMode(base.TestCase):
    """Runs the cases of effects, whatever Nova is configured for."""

    def tried(
        self, mode: Isolation, case: effects.Case, nth: int = 0, when: When = 'after'
    ) -> None:
        """Run a case to its end, with a look at the cloud after each call."""
        runner = self.given(mode, case)
        guard = Guard(runner, nth, when)
        runner.run(case.effect, guard)
        where = f'{mode}: {case.effect} of {case.given.__name__}: {nth} {when}'
        self.assertEqual([], guard.opened, where)
        self.assertEqual(case.places, runner.places(), where)
        if case.effect in ('start', 'check'):
            for name, words in expected(runner).items():
                self.assertLessEqual(words.items(), metadata(runner)[name].items(), where)

    def given(self, mode: Isolation, case: effects.Case) -> HostEffectRunner:
        runner = case.given()
        runner.configure(mode)
        runner.mark()
        return runner

    def calls(self, mode: Isolation, case: effects.Case) -> int:
        runner = self.given(mode, case)
        failing = FailingCallCloud(runner.cloud)
        runner.run(case.effect, failing)
        return len(failing.made)


class TestEveryMode(EveryMode):
    """Whatever Nova is configured for: marks are right, and nothing is open."""

    def test_each_effect(self) -> None:
        for mode in Isolation:
            for case in effects.CASES:
                self.tried(mode, case)

    def test_only_the_owner(self) -> None:
        for mode in Isolation:
            runner = HostEffectRunner()
            runner.configure(mode)
            runner.plugin.admit(runner.resources[0], runner.cloud)
            for effect, mine in (
                ('prepare', set()),
                ('start', {'compute-1', 'compute-2'}),
                ('check', {'compute-1', 'compute-2'}),
                ('end', set()),
            ):
                runner.run(effect)
                self.assertEqual(mine, self.landed(runner, OWNER), (mode, effect))
                self.assertEqual(set(), self.landed(runner, OTHER), (mode, effect))
            self.assertEqual({'freepool': POOL[mode]}, metadata(runner))

    def landed(self, runner: HostEffectRunner, project: str) -> set[str]:
        there: tuple[Aggregate, ...] = runner.cloud.aggregates()
        return {
            host.name
            for host in runner.resources
            if landing.may_land(project, host.name, there, runner.settings.isolation)
        }

    def test_the_marks_are_there_before_the_first_host(self) -> None:
        for mode in Isolation:
            runner = HostEffectRunner()
            runner.put('compute-1')
            runner.configure(mode)
            failing = FailingCallCloud(runner.cloud)
            runner.plugin.admit(runner.resources[0], failing)
            marked = ['set_aggregate_metadata'] if POOL[mode] else []
            made = [name for name in failing.changes if 'trait' not in name]
            self.assertEqual([*marked, 'add_host'], made, mode)
            failing = FailingCallCloud(runner.cloud)
            runner.run('start', failing)
            self.assertEqual(
                ['create_aggregate', 'set_aggregate_metadata', *['add_host', 'remove_host'] * 2],
                failing.changes,
                mode,
            )

    def test_a_start_looks_as_often_in_every_mode(self) -> None:
        made = []
        for mode in Isolation:
            runner = HostEffectRunner()
            runner.configure(mode)
            runner.mark()
            failing = FailingCallCloud(runner.cloud)
            runner.run('start', failing)
            made.append(failing.made)
        self.assertEqual([made[0]] * 3, made)


class TestDrift(base.TestCase):
    """Marks that somebody else changed are put right; what is not ours stays."""

    def leased(self, mode: Isolation) -> HostEffectRunner:
        runner = HostEffectRunner()
        runner.configure(mode)
        runner.run('start')
        return runner

    def test_repair(self) -> None:
        for mode in Isolation:
            for name, words in (('freepool', POOL[mode]), (RESERVATION, LEASE[mode])):
                for key in words:
                    for value in (None, OTHER):
                        runner = self.leased(mode)
                        self.scribble(runner, name, {key: value})
                        done = runner.run('check')
                        self.assertEqual(expected(runner), metadata(runner))
                        (line,) = done.repaired
                        self.assert_contains(line, key, name)
                        self.assertEqual((), runner.run('check').repaired)

    def test_what_is_not_ours_stays(self) -> None:
        for mode in Isolation:
            runner = self.leased(mode)
            added: dict[str, str | None] = {'filter_tenant_id_friends': OTHER, 'rack': '7'}
            for name in ('freepool', RESERVATION):
                self.scribble(runner, name, added)
            self.assertEqual((), runner.run('check').repaired)
            for name in ('freepool', RESERVATION):
                self.assertLessEqual(added.items(), metadata(runner)[name].items())

    def test_an_isolation_of_the_operator_outlives_ours(self) -> None:
        runner = self.leased(Isolation.PLACEMENT)
        self.scribble(runner, 'freepool', {'filter_tenant_id': 'preemptible'})
        runner.configure(Isolation.FILTER)
        runner.run('check')
        self.assertEqual({'filter_tenant_id': 'preemptible'}, metadata(runner)['freepool'])

    def scribble(self, runner: HostEffectRunner, name: str, words: dict[str, str | None]) -> None:
        aggregate = present(runner.cloud.compute.find_aggregate(name))
        runner.cloud.compute.set_aggregate_metadata(aggregate.id, words)


class TestChange(base.TestCase):
    """Another isolation is configured while leases run."""

    def test_the_next_check_brings_it_into_line(self) -> None:
        for before in Isolation:
            for after in Isolation:
                for effect in ('check', 'start'):
                    runner = HostEffectRunner()
                    runner.configure(before)
                    runner.run('start')
                    runner.configure(after)
                    done = runner.run(effect)
                    self.assertEqual(expected(runner), metadata(runner), (before, after))
                    self.assertEqual(before is after or effect == 'start', done.repaired == ())
                    runner.run('end')
                    self.assertEqual({'freepool': POOL[after]}, metadata(runner))

    def test_the_way_over_both_opens_nothing(self) -> None:
        """Either configuration of Nova is safe while the aggregates have both marks."""
        for first, last in (
            (Isolation.FILTER, Isolation.PLACEMENT),
            (Isolation.PLACEMENT, Isolation.FILTER),
        ):
            runner = HostEffectRunner()
            runner.configure(first)
            runner.run('start')
            runner.configure(Isolation.BOTH)
            runner.run('check')
            for nova_has in (first, Isolation.BOTH, last):
                for host, owned in (('compute-1', True), ('compute-3', False)):
                    there = runner.cloud.aggregates()
                    self.assertFalse(landing.may_land(OTHER, host, there, nova_has))
                    self.assertEqual(owned, landing.may_land(OWNER, host, there, nova_has))
