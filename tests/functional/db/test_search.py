# SPDX-License-Identifier: Apache-2.0
"""The check of a few finds exactly what one finds who looks at every allocation."""

from __future__ import annotations

import datetime

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from climate.allocation.matches import Match
from climate.db.transactions.store import Transaction
from climate.domain.leases import AllocationState
from climate.domain.periods import Period
from climate.domain.resources import Candidate
from tests import services
from tests.functional.db import cases
from tests.functional.db import plans

HOSTS = 6
ANY = Match(resource_type=cases.TYPE)
_MOMENT = datetime.timedelta(microseconds=1)


@st.composite
def calendars(draw: st.DrawFn) -> list[tuple[Period, AllocationState]]:
    """What one host has to do: periods that do not overlap, in the order of time."""
    hour, found = -12, []
    for pause, length in draw(
        st.lists(st.tuples(st.integers(0, 5), st.integers(1, 5)), max_size=6)
    ):
        start, end = hour + pause, hour + pause + length
        hour = end
        # What has ended was given back, and what lies ahead was not.
        over, begun = end <= 0, start <= 0
        state = AllocationState.BOOKED
        if over:
            state = AllocationState.RELEASED
        elif begun:
            state = draw(st.sampled_from((AllocationState.BOOKED, AllocationState.HELD)))
        found.append((cases.hours(start, end), state))
    return found


windows = st.tuples(st.integers(0, 24), st.integers(1, 8), st.booleans()).map(
    lambda drawn: Period(
        start=cases.at(drawn[0]) + (_MOMENT if drawn[2] else datetime.timedelta(0)),
        end=cases.at(drawn[0] + drawn[1]),
    )
)


def expected(
    number: int, name: str, calendar: list[tuple[Period, AllocationState]], window: Period
) -> Candidate | None:
    """Return the candidate that a host is, found by looking at all it has to do."""
    live = [period for period, state in calendar if state is not AllocationState.RELEASED]
    if any(period.overlaps(window) for period in live):
        return None
    before = [period.end for period in live if cases.NOW <= period.end <= window.start]
    after = [period.start for period in live if period.start >= window.end]
    return Candidate(
        resource_id=number,
        name=name,
        generation=0,
        busy_until=max(before, default=None),
        busy_from=min(after, default=None),
    )


@services.on_each_engine(cases.StoreCase)
class Search:
    """Random calendars, random windows."""

    # What is found is compared with its generation, and rules raise that.
    guarded = False

    def test_finds_what_is_free(self) -> None:
        # Made for each engine: hypothesis wants one function to be one test.
        drawn = st.lists(calendars(), min_size=HOSTS, max_size=HOSTS)
        wanted = st.lists(windows, min_size=1, max_size=8)
        settings(max_examples=40)(given(drawn, wanted)(self._finds))()

    def _finds(
        self, drawn: list[list[tuple[Period, AllocationState]]], wanted: list[Period]
    ) -> None:
        def compare(tx: Transaction) -> None:
            lease = cases.lease()
            tx.leases.insert(lease)
            tx.reservations.insert(lease.reservations)
            ids = [tx.resources.insert(cases.host(number)) for number in range(HOSTS)]
            for number, calendar in zip(ids, drawn, strict=True):
                mine = lease.reservations[0].id
                booked = (
                    cases.allocation(mine, number, period, state=state)
                    for period, state in calendar
                )
                cases.put(tx, booked)
            for window in wanted:
                self._compare(tx, ids, drawn, window)

        self.store.run(compare, undone=True)

    def _compare(
        self,
        tx: Transaction,
        ids: list[int],
        drawn: list[list[tuple[Period, AllocationState]]],
        window: Period,
    ) -> None:
        candidates = [
            expected(number, f'compute-{place}', calendar, window)
            for place, (number, calendar) in enumerate(zip(ids, drawn, strict=True))
        ]
        right = [candidate for candidate in candidates if candidate is not None]
        self.assertEqual(right, tx.search.among(ids, ANY, window))
        self.assertEqual(right[::-1], tx.search.among(ids[::-1], ANY, window))
        names = [f'compute-{place}' for place in range(HOSTS)]
        self.assertEqual(right, tx.search.named(names, ANY, window))
        clashing = set(ids) - {candidate.resource_id for candidate in right}
        self.assertEqual(clashing, tx.allocations.clashes(ids, window, []))

    def test_what_was_given_back_has_to_be_cleaned(self) -> None:
        ids = self.add_hosts(2)
        self.book(ids[:1], -3, -0.25, state=AllocationState.RELEASED)
        padded = cases.hours(0, 1).padded(datetime.timedelta(minutes=30))
        with self.store.reading() as tx:
            free = tx.search.among(ids, ANY, padded)
            self.assertEqual(ids[1:], [item.resource_id for item in free])
            self.assertEqual(set(ids[:1]), tx.allocations.clashes(ids, padded, []))
            later = cases.hours(1, 2).padded(datetime.timedelta(minutes=30))
            self.assertEqual(2, len(tx.search.among(ids, ANY, later)))

    def test_what_is_closed_disabled_or_gone_is_not_found(self) -> None:
        ids = self.add_hosts(4)
        self.store.run(lambda tx: tx.resources.set_reservable(ids[0], False))
        self.store.run(lambda tx: tx.resources.delete(ids[1]))
        off = self.store.run(lambda tx: tx.resources.insert(cases.host(9, disabled=True)))
        with self.store.reading() as tx:
            found = tx.search.among([*ids, off], ANY, cases.hours(1, 2))
            self.assertEqual(ids[2:], [item.resource_id for item in found])
            names = ['compute-1', 'compute-2', 'compute-3', 'compute-9']
            found = tx.search.named(names, ANY, cases.hours(1, 2))
            self.assertEqual(ids[2:3], [item.resource_id for item in found])

    def test_lead_times_of_what_was_checked_need_no_other_statement(self) -> None:
        hosts = [
            cases.host(number, capabilities={} if text is None else {'lead_time': text})
            for number, text in enumerate(('60', '90.5', None, '-5'))
        ]
        ids = self.store.run(lambda tx: [tx.resources.insert(host) for host in hosts])
        window = Period(start=cases.at(1), end=cases.at(2))
        wanted = (ids[:1], ids[:2], ids[2:3], ids[3:], ids)
        with self.store.reading() as tx:
            expected = [tx.search.lead_times.longest(some) for some in wanted]
            tx.search.among(ids, ANY, window)
            with plans.captured(self.store.engine) as statements:
                found = [tx.search.lead_times.longest(some) for some in wanted]
                self.assertEqual([], statements)
                self.assertEqual(91, tx.search.lead_times.longest([*ids, 0x7FFF]))
                self.assertEqual(1, len(statements))
        self.assertEqual([60, 91, None, None, 91], expected)
        self.assertEqual(expected, found)

    def test_the_right_to_book_raises_generations(self) -> None:
        ids = self.add_hosts(2)

        def book(tx: Transaction) -> tuple[dict[int, int], dict[int, int]]:
            return tx.book(ids).generations, tx.book(ids[:1]).generations

        self.assertEqual((dict.fromkeys(ids, 0),) * 2, self.store.run(book))
        with self.store.reading() as tx:
            self.assertEqual(dict.fromkeys(ids, 1), tx.resources.generations(ids))
            self.assertRaises(RuntimeError, tx.book, ids)
