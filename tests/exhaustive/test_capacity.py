# SPDX-License-Identifier: Apache-2.0

"""Nothing is ever used beyond what there is, and everything is free at the end.

Everybody does as they like, in an order that hypothesis draws; after each step
a brute-force sweep over the rows says whether more is promised, or in hand,
than there is. What is drawn is the same in every run; ``CLIMATE_MACHINE_EXAMPLES``
asks for so many others, drawn anew.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import os
import random
import uuid
from collections import Counter
from collections.abc import Callable
from typing import Any

import fixtures
import hypothesis
from hypothesis import stateful
from hypothesis import strategies as st
from testtools import content

from climate import exceptions
from climate.domain.health import HealActive
from climate.domain.leases import Lease
from climate.domain.resources import Spread
from tests import base
from tests.functional.manager import slots
from tests.functional.manager import sweep
from tests.functional.manager import yard

STEPS = 100
EXAMPLES = 60
# Of each of the two, so ten thousand in all.
LEAST = 5000
HOSTS = 3
# Not enough is there, the dates make no sense, or it is not the time for it.
_REFUSALS = (exceptions.InvalidInput, exceptions.Conflict, exceptions.NotFound)

whole = st.builds(yard.hosts, st.just(1), st.sampled_from([None, None, 2]))
slot = st.builds(
    yard.parts,
    st.sampled_from([1, 2, 2, 3, 3, 4, 7]),
    st.sampled_from(yard.DEMANDS),
    most=st.sampled_from([None, None, 7, 9]),
    spread=st.sampled_from(Spread),
    contrary=st.booleans(),
)
lines = st.sampled_from([1, 2, 2, 3]).flatmap(
    lambda count: st.lists(st.one_of(*[slot] * 9, whole), min_size=count, max_size=count)
)
# Mostly short and soon, so that there is seldom enough for everybody.
soon = st.sampled_from([10, 0, 0, 0, 0, 0, 30, 60])
length = st.sampled_from([100, 1, 30, 60, 150, 300, 600]) | st.integers(1, 400)
# Booking and changing most of all.
acts = st.sampled_from(
    [
        *['work'] * 6,
        *['create', 'exchange', 'reschedule'] * 4,
        *['resize'] * 8,
        *['delete', 'away', 'refuse', 'heal', 'die', 'fail', 'maintain'],
    ]
)
Draw = Callable[[st.SearchStrategy[Any]], Any]


class Machine(stateful.RuleBasedStateMachine):
    """A yard on which everybody does what they like."""

    cleaning = datetime.timedelta(0)
    heals = HealActive.EMPTY
    steps = 0
    done: Counter[str] = Counter()

    def __init__(self) -> None:
        super().__init__()
        settings = dataclasses.replace(
            yard.SETTINGS, cleaning_time=self.cleaning, heal_active=self.heals
        )
        self.yard = yard.Yard(settings, hosts=HOSTS)
        self.yard.setUp()
        # What is booked and moved first depends on ids, and hypothesis on the same steps.
        ids = random.Random(4)
        self.yard.useFixture(
            fixtures.MonkeyPatch('uuid.uuid4', lambda: uuid.UUID(int=ids.getrandbits(128)))
        )
        self.all: list[Lease] = []

    @property
    def seconds(self) -> float:
        """How late it is, in seconds after noon."""
        return self.yard.seconds()

    @stateful.initialize(crowded=st.sampled_from([True, True, False]))
    def begin(self, crowded: bool) -> None:
        """It is a busy time: all is in use, and much of it is promised for later."""
        if not crowded:
            return
        for _ in range(HOSTS):
            self.all.append(self.yard.book(0, 100, [yard.parts(5), yard.parts(2)]))
            self.all.append(self.yard.book(100, 200, [yard.parts(4)]))
        self.yard.until(1)

    @stateful.rule(data=st.data())
    def act(self, data: st.DataObject) -> None:
        """Somebody does something.

        It is one rule that draws what: of several hypothesis would leave some
        out of each run, such as the one that books.
        """
        getattr(self, data.draw(acts))(data.draw)

    # -- users

    def create(self, draw: Draw) -> None:
        """Somebody books."""
        begin = self.seconds + draw(soon)
        with contextlib.suppress(exceptions.NotEnoughResources):
            lease = self.yard.book(begin, begin + draw(length), draw(lines))
            self.all.append(lease)
            self.is_sound(lease, set())
            self.done['booked'] += 1

    def resize(self, draw: Draw) -> None:
        """Somebody wants more of it, or less, or something else."""
        lease = self.living(draw)
        if lease is None:
            return
        place = draw(st.integers(0, len(lease.reservations) - 1))
        parted = lease.reservations[place].resource_type == slots.RESOURCE_TYPE
        count = draw(st.sampled_from([1, 1, 2, 3, 5, 7] if parted else [1, 2]))
        body: dict[str, Any] = {'min': count, 'max': count + draw(st.sampled_from([0, 0, 1]))}
        if parted:
            demand = draw(st.sampled_from([*[None] * 9, *yard.DEMANDS]))
            spread = draw(st.sampled_from([*[None] * 9, *Spread]))
            body |= {'demand': demand} if demand else {}
            body |= {'spread': spread.value} if spread else {}
        self.change(lease, {place: body}, end=self.late(draw))

    def exchange(self, draw: Draw) -> None:
        """Somebody wants more of one thing, and fewer of another."""
        lease = self.living(draw)
        if lease is None:
            return
        now = self.yard.now(lease).reservations
        places = [place for place, item in enumerate(now) if item.request.get('demand')]
        if len(places) > 1:
            turned = zip(places, [*places[1:], places[0]], strict=True)
            bodies = {
                one: {key: now[other].request[key] for key in ('min', 'max')}
                for one, other in turned
            }
            self.change(lease, bodies, end=self.late(draw))

    def reschedule(self, draw: Draw) -> None:
        """Somebody wants it at another time, or only until now."""
        lease = self.living(draw)
        if lease is not None:
            moved = lease.status == 'PENDING' and draw(st.booleans())
            start = self.seconds + draw(soon) if moved else None
            self.change(lease, {}, start=start, end=self.seconds + draw(length))

    def delete(self, draw: Draw) -> None:
        """Somebody deletes a lease."""
        lease = self.living(draw)
        if lease is not None:
            with contextlib.suppress(exceptions.NotFound):
                self.yard.delete(lease)

    def living(self, draw: Draw) -> Lease | None:
        """Return one of the leases that are not over, seldom one in between."""
        self.forget()
        now = [self.yard.now(item) for item in self.all]
        calm = [item for item in now if item.status in ('PENDING', 'ACTIVE')]
        return draw(st.sampled_from([*calm * 4, *now])) if now else None

    def forget(self) -> None:
        self.all = [
            item for item in self.all if self.yard.status(item) not in ('TERMINATED', 'gone')
        ]

    def late(self, draw: Draw) -> float | None:
        """Return another end, or none."""
        return draw(st.none() | length.map(lambda seconds: self.seconds + seconds))

    def change(self, lease: Lease, bodies: dict[int, dict[str, Any]], **dates: Any) -> None:
        before = [row for row in self.yard.rows() if row.lease_id == lease.id]
        try:
            changed = self.yard.change(lease, bodies, **dates)
        except _REFUSALS:
            assert before == [row for row in self.yard.rows() if row.lease_id == lease.id]
        else:
            self.is_sound(changed, {(row.reservation_id, row.resource_id) for row in before})
            self.done[f'{lease.status.lower()} changed'] += 1

    # -- time, hosts, the cloud and managers

    def work(self, draw: Draw) -> None:
        """Time passes, and managers do what comes due."""
        self.yard.until(self.seconds + draw(st.sampled_from([10, 0, 0, 1, 5, 20, 40, 80])))

    def away(self, draw: Draw) -> None:
        """Time passes, and no manager is there."""
        self.yard.away_until(self.seconds + draw(st.integers(1, 200)))

    def die(self, draw: Draw) -> None:
        """A manager dies at its work."""
        with contextlib.suppress(ValueError):
            self.yard.add_manager().die_after(draw(st.sampled_from(['claim', 'begin', 'effect'])))

    def fail(self, draw: Draw) -> None:
        """A host fails; the others work again."""
        failing = draw(st.sampled_from([None, *self.yard.resource_ids]))
        for resource_id in self.yard.resource_ids:
            self.yard.fail(resource_id, failed=resource_id == failing)

    def maintain(self, draw: Draw) -> None:
        """A host is to be out for a while."""
        begin = self.seconds + draw(st.integers(0, 200))
        resource_id = draw(st.sampled_from(self.yard.resource_ids))
        self.yard.maintain(resource_id, begin, begin + draw(st.integers(1, 60)))

    def heal(self, _draw: Draw) -> None:
        """Somebody looks after reservations of what is out."""
        self.yard.heal()

    def refuse(self, draw: Draw) -> None:
        """The ledger does not do as it should."""
        when = draw(st.sampled_from(['before', 'after']))
        kind = draw(st.sampled_from([exceptions.Permanent, exceptions.Transient]))
        self.yard.slots.ledger.troubles.append((when, kind('a blot')))

    # -- what holds

    def is_sound(self, lease: Lease, known: set[tuple[str, int]]) -> None:
        """Say whether a lease has what it asked for, where that may be had.

        :param known: what it had on which resource before
        """
        mine = [row for row in self.yard.rows() if row.lease_id == lease.id and row.live]
        now = self.yard.clock.now().replace(tzinfo=None)
        start, end = (item.replace(tzinfo=None) for item in (lease.period.start, lease.period.end))
        new = {
            row.resource_id for row in mine if (row.reservation_id, row.resource_id) not in known
        }
        assert not new & self.yard.failed(), (lease, mine)
        assert not new & self.yard.out(max(start, now), end), (lease, mine)
        for item in lease.reservations:
            own = [row for row in mine if row.reservation_id == item.id]
            assert all(row.end == end for row in own), (lease, own)
            counts = _counts(item.request.get('demand') or {}, own)
            if lease.status == 'PENDING':
                assert item.request['min'] <= sum(counts.values()) <= item.request['max'], own
            spread = item.request.get('spread')
            assert spread != 'together' or len(counts) <= 1, (lease, own)
            assert spread != 'apart' or set(counts.values()) <= {1}, (lease, own)

    @stateful.invariant()
    def nothing_is_used_beyond_what_there_is(self) -> None:
        """At no instant, neither as promised nor as it is in hand."""
        type(self).steps += 1
        rows = self.yard.rows()
        assert (wrong := sweep.trouble(rows, self.yard.capacity, self.cleaning)) is None, wrong
        assert (wrong := sweep.in_hand(rows, self.yard.capacity)) is None, wrong
        held: dict[tuple[str, int, str | None], int] = {}
        for row in rows:
            if row.state == 'held':
                key = (row.reservation_id, row.resource_id, row.resource_class)
                held[key] = held.get(key, 0) + row.amount
        for reservation_id, given in self.yard.slots.ledger.given.items():
            for (resource_id, name), amount in given.items():
                assert held.get((reservation_id, resource_id, name), 0) >= amount, (given, held)

    @stateful.invariant()
    def no_host_belongs_to_two(self) -> None:
        """No host is in the aggregates of two reservations, ever."""
        for name, places in self.yard.places().items():
            assert len(set(places) - {'freepool'}) <= 1, (name, places)

    def teardown(self) -> None:
        """Left alone, everything comes to its end."""
        try:
            self.come_to_an_end()
        finally:
            self.yard.cleanUp()

    def come_to_an_end(self) -> None:
        it = self.yard
        it.slots.ledger.troubles.clear()
        it.until(self.seconds + 4000)
        self.forget()
        assert not self.all, self.all
        assert not [row for row in it.rows() if row.live]
        assert it.slots.ledger.given == {}
        assert it.pooled() == {f'compute-{number + 1}' for number in range(HOSTS)}, it.places()


def _counts(demand: dict[str, int], rows: list[sweep.Row]) -> dict[int, int]:
    """Return slots by resource id; all classes of a slot have to be there."""
    counts: dict[int, set[int]] = {}
    for resource_id in {row.resource_id for row in rows}:
        here = [row for row in rows if row.resource_id == resource_id]
        for name, units in demand.items() or [(None, 1)]:
            amount = sum(row.amount for row in here if row.resource_class == name)
            assert amount % units == 0, rows
            counts.setdefault(resource_id, set()).add(amount // units)
        assert {row.resource_class for row in here} == set(demand or [None]), rows
    assert all(len(found) == 1 for found in counts.values()), rows
    return {resource_id: found.pop() for resource_id, found in counts.items()}


class TestCapacity(base.TestCase):
    """Runs it."""

    def run_machine(self, cleaning: int, heals: HealActive) -> None:
        class Cleaned(Machine):
            """One of its own, for what a run counts is kept in its class."""

        Cleaned.cleaning = datetime.timedelta(seconds=cleaning)
        Cleaned.heals = heals
        Cleaned.done = Counter()
        wanted = os.environ.get('CLIMATE_MACHINE_EXAMPLES')
        if wanted is None:
            hypothesis.seed(cleaning)(Cleaned)
        stateful.run_state_machine_as_test(
            Cleaned,
            settings=hypothesis.settings(
                max_examples=int(wanted or EXAMPLES),
                stateful_step_count=STEPS,
                deadline=None,
                database=None,
                phases=[hypothesis.Phase.generate],
                suppress_health_check=list(hypothesis.HealthCheck),
            ),
        )
        self.addDetail(
            'steps', content.text_content(f'{Cleaned.steps} steps: {dict(Cleaned.done)}')
        )
        if wanted is None:
            self.assertGreaterEqual(Cleaned.steps, LEAST)

    def test_without_cleaning(self) -> None:
        self.run_machine(0, HealActive.EMPTY)

    def test_with_cleaning(self) -> None:
        self.run_machine(20, HealActive.ALWAYS)
