# SPDX-License-Identifier: Apache-2.0

"""Whatever is requested, in whatever order: what plans and requests never do to others."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any

import hypothesis
from hypothesis import strategies as st

from climate.upkeep.planning import Planner
from tests.functional import race_case
from tests.functional import test_late_binding
from tests.functional.test_late_binding import HOSTS

HOUR = datetime.timedelta(hours=1)
NUMBERS = st.integers(1, HOSTS - 1)
HOURS = st.integers(2, 8)
LENGTHS = st.integers(1, 4)
FIXED = st.tuples(st.just('fixed'), NUMBERS, HOURS, LENGTHS)
FLEXIBLE = st.tuples(st.just('flexible'), NUMBERS, HOURS, LENGTHS, st.none() | st.integers(0, 8))
DELETE = st.tuples(st.just('delete'), st.integers(0, 20))
OTHER = st.sampled_from([('plan',), ('plan',), ('wait', 1)])
STEPS = st.lists(st.one_of(FIXED, FLEXIBLE, FLEXIBLE, DELETE, OTHER), min_size=12, max_size=20)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Shown:
    """A lease as its owner sees it, without the parts that do not concern its place."""

    start: datetime.datetime
    end: datetime.datetime
    hosts: frozenset[str]
    earliest: datetime.datetime | None
    latest: datetime.datetime | None

    def meets(self, other: Shown) -> bool:
        """Whether the periods overlap."""
        return self.start < other.end and other.start < self.end


Leases = Mapping[str, Shown]


class TestProperties(test_late_binding.Bookings):
    """A service with four hosts, and a reference that counts them."""

    def setUp(self) -> None:
        super().setUp()
        self.first = self.service.clock.now().replace(minute=0, second=0, microsecond=0) + HOUR
        self.booked: list[str] = []

    @property
    def now(self) -> datetime.datetime:
        """The present time."""
        return self.service.clock.now()

    def written(self, hours: int) -> str:
        """Return the instant so many hours from now."""
        return f'{self.now + hours * HOUR:%Y-%m-%dT%H:%M:%SZ}'

    def leases(self) -> dict[str, Shown]:
        """Return all leases that there are."""
        found = {}
        for lease_id in self.booked:
            shown = self.send('GET', f'leases/{lease_id}').json['lease']
            (one,) = shown['reservations']
            names = frozenset(each['name'] for each in one['resources'])
            times = {
                name: shown[name] and datetime.datetime.fromisoformat(shown[name])
                for name in ('start_date', 'end_date', 'earliest', 'latest')
            }
            start, end = times.pop('start_date'), times.pop('end_date')
            found[lease_id] = Shown(start=start, end=end, hosts=names, **times)
            self.assertEqual(one['min'], len(names))
        return found

    @hypothesis.settings(max_examples=50)
    @hypothesis.given(steps=STEPS)
    def test_steps(self, steps: list[Any]) -> None:
        # Each example is in days of its own, also after one that has failed.
        self.first += 30 * 24 * HOUR
        for lease_id in self.booked:
            self.send('DELETE', f'leases/{lease_id}')
        self.booked = []
        self.service.clock.move_to(self.first)
        planner = Planner(self.service.services.leases)
        before = self.leases()
        for name, *words in [*steps, ('delete', 0), ('plan',)]:
            made = getattr(self, f'do_{name}')(planner, *words)
            after = self.leases()
            self.check(before, after, made)
            if name == 'plan':
                self.check_soonest(after)
            before = after

    def do_fixed(self, _: Planner, hosts: int, start: int, length: int) -> str | None:
        return self.made(
            hosts, start_date=self.written(start), end_date=self.written(start + length)
        )

    def do_flexible(
        self, _: Planner, hosts: int, start: int, length: int, slack: int | None
    ) -> str | None:
        window = {'earliest': self.written(start), 'duration': f'{length}h'}
        if slack is not None:
            window['latest'] = self.written(start + length + slack)
        return self.made(hosts, **window)

    def made(self, hosts: int, **times: str) -> str | None:
        """Return the id of a lease that is booked; None if there is no room."""
        one = {'resource_type': 'physical:host', 'min': hosts, 'max': hosts}
        answer = self.send('POST', 'leases', {'name': 'a', 'reservations': [one], **times})
        if answer.status_int == 409:
            return None
        self.assertEqual(201, answer.status_int, answer.text)
        self.booked.append(answer.json['lease']['id'])
        return self.booked[-1]

    def do_delete(self, _: Planner, number: int) -> None:
        # What has begun needs a manager to end.
        later = [key for key, one in self.leases().items() if one.start > self.now]
        if later:
            lease_id = later[number % len(later)]
            self.booked.remove(lease_id)
            self.send('DELETE', f'leases/{lease_id}')

    def do_wait(self, _: Planner, hours: int) -> None:
        self.service.clock.move_to(self.now + hours * HOUR)

    def do_plan(self, planner: Planner) -> None:
        while planner.round():
            continue

    def check(self, before: Leases, after: Leases, made: str | None) -> None:
        """Check what a step has done to the others.

        :param made: the id of the lease that it has booked
        """
        self.assertEqual(0, race_case.overlaps(self.service.store))
        for one in after.values():
            there = [each for each in after.values() if each.start <= one.start < each.end]
            self.assertLessEqual(sum(len(each.hosts) for each in there), HOSTS)
            self.assertTrue(one.earliest is None or one.earliest <= one.start, one)
            self.assertTrue(one.latest is None or one.end <= one.latest, one)
        for key, had in before.items():
            if key not in after:
                continue
            has = after[key]
            self.assertEqual(had.end - had.start, has.end - has.start)
            if had.start - HOUR <= self.now:
                self.assertEqual(had, has, 'it was firm')
            if had.earliest is None:
                self.assertEqual(had.start, has.start, 'it has a fixed start')
            if has.start > had.start:
                # Only what has been booked now can have its place.
                assert made is not None, had
                self.assertTrue(after[made].meets(had), (had, after[made]))

    def check_soonest(self, leases: Leases) -> None:
        """Check that no lease could begin sooner where it would disturb none."""
        for key, one in leases.items():
            if one.earliest is None or one.start - HOUR <= self.now:
                continue
            others = [each for other, each in leases.items() if other != key]
            start = max(one.earliest, self.now)
            while start < one.start:
                there = dataclasses.replace(one, start=start, end=start + (one.end - one.start))
                taken = frozenset[str]().union(
                    *(each.hosts for each in others if each.meets(there))
                )
                self.assertLess(HOSTS - len(taken), len(one.hosts), (one, start))
                start += HOUR
