# SPDX-License-Identifier: Apache-2.0

"""Whatever users, time, the cloud and managers do, some things hold."""

from __future__ import annotations

import collections
import contextlib
import datetime
import itertools
import unittest

import hypothesis
import sqlalchemy as sa
from hypothesis import stateful
from hypothesis import strategies as st

from climate import exceptions
from climate.domain import events
from climate.domain.leases import Lease
from climate.plugins.host.isolation import Isolation
from tests import landing
from tests.functional.manager import harness
from tests.functional.manager.harness import Site

_AGGREGATES = ('find_aggregate', 'create_aggregate', 'set_aggregate_metadata', 'delete_aggregate')
_OTHERS = ('add_host', 'remove_host', 'list_servers', 'delete_server', 'create_image')
COMPUTE = [f'compute.{verb}' for verb in (*_AGGREGATES, *_OTHERS)]
VERBS = (*COMPUTE, 'image.find_image', 'image.give_image')
SETTINGS = harness.changed(effect_deadline=datetime.timedelta(seconds=40))
_LIVE = sa.text(
    'SELECT a.resource_id, a.start_date, a.end_date, r.lease_id FROM allocations a'
    " JOIN reservations r ON r.id = a.reservation_id WHERE a.state IN ('booked', 'held')"
    ' ORDER BY a.resource_id, a.start_date'
)


class Machine(stateful.RuleBasedStateMachine):
    """A site on which everybody does what they like."""

    leases = stateful.Bundle('leases')

    site: Site

    def __init__(self) -> None:
        super().__init__()
        self.all: list[Lease] = []

    @stateful.initialize(isolation=st.sampled_from(Isolation))
    def install(self, isolation: Isolation) -> None:
        """Somebody has set Nova up in one of its ways."""
        self.site = Site(SETTINGS, hosts=3, isolation=isolation)
        self.site.setUp()

    @property
    def seconds(self) -> float:
        """How late it is, in seconds after noon."""
        return (self.site.clock.now() - harness.NOW).total_seconds()

    # -- users

    @stateful.rule(
        target=leases,
        start=st.integers(0, 200),
        length=st.integers(1, 800),
        hosts=st.integers(1, 3),
        action=st.sampled_from(['', 'snapshot']),
    )
    def create(self, start: int, length: int, hosts: int, action: str) -> Lease | None:
        """Somebody books."""
        try:
            lease = self.site.create(
                self.seconds + start, self.seconds + start + length, hosts, action=action
            )
        except exceptions.NotEnoughResources:
            return None
        self.all.append(lease)
        return lease

    @stateful.rule(
        lease=leases,
        start=st.none() | st.integers(0, 200),
        end=st.none() | st.integers(0, 800),
        hosts=st.none() | st.integers(1, 3),
    )
    def update(
        self, lease: Lease | None, start: int | None, end: int | None, hosts: int | None
    ) -> None:
        """Somebody changes a lease."""
        facts: dict[str, float] = {}
        for key, value in (('start', start), ('end', end)):
            if value is not None:
                facts[key] = self.seconds + value
        if hosts is not None:
            facts['hosts'] = hosts
        if lease is None or not facts:
            return
        before = self.allocated(lease)
        try:
            self.site.update(lease, **facts)
        except (exceptions.InvalidInput, exceptions.Conflict, exceptions.NotFound):
            assert before == self.allocated(lease)

    @stateful.rule(lease=leases)
    def delete(self, lease: Lease | None) -> None:
        """Somebody deletes a lease."""
        if lease is not None:
            with contextlib.suppress(exceptions.NotFound):
                self.site.delete(lease)

    @stateful.rule(lease=leases)
    def boot(self, lease: Lease | None) -> None:
        """Somebody makes use of a lease."""
        if lease is not None and self.site.hosts(lease):
            self.site.boot(lease)

    # -- time, the cloud and managers

    @stateful.rule(seconds=st.integers(0, 300))
    def work(self, seconds: int) -> None:
        """Time passes, and managers do what comes due."""
        self.site.until(self.seconds + seconds)

    @stateful.rule(seconds=st.integers(1, 900))
    def away(self, seconds: int) -> None:
        """Time passes, and no manager is there."""
        self.site.away_until(self.seconds + seconds)

    @stateful.rule(step=st.sampled_from(['claim', 'begin', 'effect', 'settle']))
    def die(self, step: str) -> None:
        """A manager dies at its work."""
        manager = self.site.add_manager()
        with contextlib.suppress(ValueError):
            manager.die_after(step)

    @stateful.rule(
        verb=st.sampled_from(VERBS),
        times=st.integers(1, 3),
        when=st.sampled_from(['before', 'after']),
        error=st.sampled_from(['transient', 'transient', 'conflict', 'permanent']),
    )
    def fail(self, verb: str, times: int, when: str, error: str) -> None:
        """The cloud does not do as it should."""
        self.site.cloud.fail(verb, times=times, when=when, error=error)

    @stateful.rule(seconds=st.integers(0, 200))
    def outage(self, seconds: int) -> None:
        """The cloud is away for a while."""
        self.site.cloud.reachable = False
        self.site.until(self.seconds + seconds)
        self.site.cloud.heal()

    @stateful.rule(seconds=st.integers(0, 30))
    def slow_deletions(self, seconds: int) -> None:
        """Servers take a while to go."""
        self.site.cloud.set_server_deletion_seconds(seconds)

    # -- what holds

    def allocated(self, lease: Lease) -> list[tuple[int, datetime.datetime]]:
        return [(item.resource_id, item.period.end) for item in self.site.allocations(lease)]

    @stateful.invariant()
    def nothing_is_booked_twice(self) -> None:
        """Live allocations of a host never overlap."""
        with self.site.store.engine.connect() as connection:
            rows = connection.execute(_LIVE).all()
        for one, other in itertools.pairwise(rows):
            if one.resource_id == other.resource_id:
                assert one.end_date <= other.start_date, (one, other)

    @stateful.invariant()
    def no_host_belongs_to_two(self) -> None:
        """No host is in the aggregates of two reservations, ever."""
        for host, names in self.site.places().items():
            assert len(set(names) - {'freepool'}) <= 1, (host, names)

    @stateful.invariant()
    def no_host_is_open(self) -> None:
        """Nobody lands on a host of the pool or of a lease that is not his."""
        there = self.site.cloud.aggregates()
        for host in self.site.places():
            assert not landing.may_land('stranger', host, there, self.site.isolation), host

    @stateful.invariant()
    def nothing_is_forgotten(self) -> None:
        """A lease with something to happen is looked at when it is due."""
        for lease in self.site.every_lease():
            due = events.next_due(lease.events)
            assert (due is None) == (lease.next_due is None), lease
            if due is not None and lease.next_due is not None:
                # What a dead manager had begun may have been due before that.
                assert lease.next_due <= max(due, self.site.clock.now()), lease

    @stateful.invariant()
    def what_is_over_is_given_back(self) -> None:
        """Leases that ended or were deleted have nothing left."""
        for lease in self.all:
            if self.site.status(lease) in ('TERMINATED', 'gone'):
                assert not self.site.allocations(lease), lease
                names = {item.name for item in self.site.cloud.aggregates()}
                assert not names & {item.id for item in lease.reservations}, lease

    def teardown(self) -> None:
        """Left alone, everything comes to its end."""
        try:
            self.come_to_an_end()
        finally:
            self.site.cleanUp()

    def come_to_an_end(self) -> None:
        self.site.cloud.heal()
        self.site.until(self.seconds + 4000)
        self.site.manager.send()
        for lease in self.all:
            assert self.site.status(lease) in ('TERMINATED', 'gone'), self.site.now(lease)
        assert self.site.pooled() == {'compute-1', 'compute-2', 'compute-3'}, self.site.places()
        assert not self.site.waiting()
        assert not harness.twice(self.site.bus.taken)
        for lease in self.all:
            notified = self.site.bus.received(lease)
            counted = collections.Counter(notified)
            assert notified[0] == 'create'
            assert counted['start_lease'] <= 1
            assert counted['end_lease'] + counted['delete'] >= 1, notified
            if 'start_lease' in counted and 'end_lease' in counted:
                assert notified.index('start_lease') < notified.index('end_lease')
        for manager_lease in self.site.every_lease():
            assert manager_lease.next_due is None


def often(examples: int) -> hypothesis.settings:
    """Return the settings of a machine that runs so many times."""
    return hypothesis.settings(
        max_examples=examples,
        stateful_step_count=20,
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )


class TestMachine(Machine.TestCase, unittest.TestCase):
    """Runs it; ``tests/exhaustive/test_machine.py`` does so many times."""

    settings = often(8)
