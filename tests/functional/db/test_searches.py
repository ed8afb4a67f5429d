# SPDX-License-Identifier: Apache-2.0

"""What searches find, and what they leave out because it makes no difference to the choice."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import random
from collections.abc import Collection
from collections.abc import Iterator
from typing import Any

from climate.booking.choosing.choose import Chooser
from climate.booking.choosing.requirements import Reasons
from climate.booking.choosing.requirements import Requirements
from climate.booking.choosing.searches import Searches
from climate.domain.resources import Inventory
from climate.domain.resources import Spread
from climate.leases.settings import LeasingSettings
from tests.functional.db import cases
from tests.functional.db import plans
from tests.functional.manager import slots

HOSTS = 6
DEMAND = {'VCPU': 2}
# By spread: the slots without any booking, and those that are free.
MATCHED = {Spread.ANY: 30, Spread.APART: 6, Spread.TOGETHER: 5}
FREE = {Spread.ANY: 15, Spread.APART: 5, Spread.TOGETHER: 5}


class SearchesCase(cases.StoreCase):
    """Hosts with room for 0 to 5 slots."""

    def setUp(self) -> None:
        super().setUp()
        stock = Inventory(resource_class='VCPU', total=10, max_unit=10)
        self.hosts = self.add_hosts(HOSTS, inventories=(stock,))
        self.leases = [
            self.book([host], 1, 3, resource_class='VCPU', amount=10 - 2 * number)
            for number, host in enumerate(self.hosts[:-1])
        ]

    def needed(self, count: int, spread: Spread, **more: Any) -> Requirements:
        """Return what is needed for some slots."""
        plugin: Any = slots.Slots()
        request = plugin.parse(
            {'min': count, 'max': count, 'demand': DEMAND, 'spread': spread, 'contrary': False}
        )
        period = cases.hours(1, 2)
        return Requirements(
            search=plugin.search(request),
            plugin=plugin,
            request=request,
            period=period,
            padded=period,
            minimum=count,
            maximum=count,
            private=False,
            **more,
        )

    @contextlib.contextmanager
    def searches(self, changing: Collection[str] = (), together: int = 0) -> Iterator[Searches]:
        """Search in a transaction."""
        with self.store.reading() as tx:
            yield Searches(tx, LeasingSettings(), random.Random(1), changing, together)


class TestRooms(SearchesCase):
    """Searches for slots."""

    def rooms(self, needed: Requirements) -> list[list[str]]:
        """Return the names of the resources that a search yields."""
        with self.searches() as searches:
            return [sorted(room.name for room in found) for found in searches.rooms(needed, ())]

    def test_choices_and_refusals(self) -> None:
        for spread in Spread:
            for count in range(1, 17):
                needed, about = self.needed(count, spread), (spread, count)
                with self.store.reading() as tx:
                    chosen = Chooser(tx, LeasingSettings(), random.Random(1)).chosen(needed)
                if count > FREE[spread]:
                    self.assertIsNone(chosen, about)
                    continue
                assert chosen is not None, about
                amounts = [item.amount for item in chosen]
                self.assertEqual(2 * count, sum(amounts), about)
                if spread is Spread.TOGETHER:
                    # Each of several hosts is good enough.
                    self.assertEqual([2 * count], amounts, about)

    def test_reasons(self) -> None:
        for spread in Spread:
            with self.searches() as searches:
                found = searches.reasons(self.needed(17, spread), lambda room: 0, ())
            expected = Reasons(
                matched=MATCHED[spread], free=FREE[spread], first_end=cases.at(3), too_large=False
            )
            self.assertEqual(expected, found, spread)

    def test_nothing_if_all_of_them_are_too_few(self) -> None:
        for spread, most in FREE.items():
            self.assertEqual([], self.rooms(self.needed(most + 1, spread)))
            self.assertNotEqual([], self.rooms(self.needed(most, spread)))

    def test_no_resource_that_is_too_small_for_all_slots(self) -> None:
        self.assertEqual([['compute-5', 'compute-6']], self.rooms(self.needed(4, Spread.TOGETHER)))

    def test_what_a_reservation_has_comes_first(self) -> None:
        mine = dataclasses.replace(self.needed(2, Spread.ANY), own={self.hosts[3]: 1})
        self.assertEqual(['compute-4'], self.rooms(mine)[0])

    def test_what_some_resources_have_left(self) -> None:
        """However little, and also if nothing else may be booked there."""
        self.store.run(lambda tx: tx.resources.set_reservable(self.hosts[1], False))
        self.book([self.hosts[4]], 24, 25)
        needed = self.needed(5, Spread.ANY)

        def left(needed: Requirements, *changing: str) -> dict[int, int]:
            with self.searches(changing) as searches:
                rooms = searches.rooms_of(needed, self.hosts[:5])
            return {self.hosts.index(room.resource_id): room.left['VCPU'] for room in rooms}

        self.assertEqual({0: 0, 1: 2, 2: 4, 3: 6, 4: 8}, left(needed))
        mine = [one.id for lease in self.leases[1:3] for one in lease.reservations]
        self.assertEqual({0: 0, 1: 10, 2: 10, 3: 6, 4: 8}, left(needed, *mine))
        # Those that are taken as a whole, or that do not match, have none.
        later = dataclasses.replace(needed, period=cases.hours(24, 25), padded=cases.hours(24, 25))
        self.assertEqual({0: 10, 1: 10, 2: 10, 3: 10}, left(later))
        larger = dataclasses.replace(needed.search, demand={'VCPU': 11})
        self.assertEqual({}, left(dataclasses.replace(needed, search=larger)))


class TestWholes(SearchesCase):
    """Searches for whole hosts."""

    def setUp(self) -> None:
        super().setUp()
        # More than are compared, and equally good.
        self.store.run(
            lambda tx: [tx.resources.insert(cases.host(number)) for number in range(10, 300)]
        )

    def whole(self, count: int) -> Requirements:
        """Return what is needed for some hosts."""
        needed = self.needed(count, Spread.ANY)
        return dataclasses.replace(needed, search=dataclasses.replace(needed.search, demand={}))

    def test_an_equal_search_runs_once(self) -> None:
        needed, whole = self.needed(1, Spread.ANY), self.whole(1000)
        with self.searches() as searches, plans.captured(self.store.engine) as statements:
            first, rooms = searches.untouched(whole, ()), list(searches.rooms(needed, ()))
            read = len(statements)
            again = searches.untouched(dataclasses.replace(whole), ())
            self.assertEqual(291, len(first))
            # Chosen at random, so another search would differ.
            self.assertEqual(first, again)
            self.assertEqual(first[1:], searches.untouched(whole, {first[0].resource_id}))
            self.assertEqual(rooms, list(searches.rooms(needed, ())))
            self.assertEqual(read, len(statements))

    def test_a_few_are_checked_once_for_all_reservations(self) -> None:
        with self.searches() as searches:
            searches.every_whole(self.whole(1))
        with self.searches(together=20) as searches, plans.captured(self.store.engine) as read:
            taken = set[int]()
            for _ in range(20):
                taken.add(searches.untouched(self.whole(1), taken)[0].resource_id)
            self.assertEqual(20, len(taken))
            self.assertEqual(1, len(read))

    def test_nothing_is_refused_because_a_few_are_taken(self) -> None:
        """Of a timeline that was read long ago, all that were chosen may be booked since."""
        with self.searches() as searches:
            free = searches.every_whole(self.whole(1))
        other = cases.connect(self.url, self.clock)
        self.addCleanup(other.close)
        last = free[-1].resource_id
        ids = [item.resource_id for item in free[:-1]]
        other.run(lambda tx: [tx.resources.set_reservable(one, False) for one in ids])
        with self.searches() as searches:
            found = searches.untouched(self.whole(1), ())
        self.assertEqual([last], [item.resource_id for item in found])

    def test_beyond_the_horizon(self) -> None:
        far = cases.hours(24 * 1000, 24 * 1000 + 1)
        self.book(self.hosts, 24 * 1000, 24 * 1000 + 2)
        needed = dataclasses.replace(self.whole(1), period=far, padded=far)
        for _ in range(2):
            with self.searches() as searches:
                found = searches.every_whole(needed)
                few = searches.untouched(needed, ())
            ids = {item.resource_id for item in found}
            self.assertEqual(290, len(found))
            self.assertFalse(ids & set(self.hosts))
            self.assertLessEqual({item.resource_id for item in few}, ids)
            self.clock.advance(datetime.timedelta(hours=1).total_seconds())
