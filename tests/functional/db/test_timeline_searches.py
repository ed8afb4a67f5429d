# SPDX-License-Identifier: Apache-2.0

"""What searches in memory leave out makes no difference to the choice."""

from __future__ import annotations

import contextlib
import dataclasses
import random
from collections.abc import Iterator
from typing import Any

from climate.booking.choosing.choose import Chooser
from climate.booking.choosing.requirements import Requirements
from climate.booking.choosing.timeline_searches import TimelineSearches
from climate.db.search.rooms import Window
from climate.db.timelines.timelines import Timelines
from climate.domain.resources import Inventory
from climate.domain.resources import Spread
from climate.leases.settings import LeasingSettings
from tests.functional.db import cases
from tests.functional.db import plans
from tests.functional.manager import slots

HOSTS = 6
DEMAND = {'VCPU': 2}


class SearchesCase(cases.StoreCase):
    """Hosts with room for 0 to 5 slots."""

    def setUp(self) -> None:
        super().setUp()
        stock = Inventory(resource_class='VCPU', total=10, max_unit=10)
        self.hosts = self.add_hosts(HOSTS, inventories=(stock,))
        for number, host in enumerate(self.hosts[:-1]):
            self.book([host], 1, 3, resource_class='VCPU', amount=10 - 2 * number)
        self.timelines = Timelines(LeasingSettings().cleaning_time)

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
    def searches(self) -> Iterator[TimelineSearches]:
        """Search in memory."""
        store: Any = self.store
        with store.reading() as tx:
            tx.timelines = self.timelines
            yield TimelineSearches(tx, LeasingSettings(), random.Random(1))


class TestRooms(SearchesCase):
    """Searches for slots."""

    def rooms(self, needed: Requirements) -> list[list[str]]:
        """Return the names of the resources that a search yields."""
        window = Window(period=needed.period, padded=needed.padded)
        with self.searches() as searches:
            return [
                sorted(room.name for room in found) for found in searches.rooms(needed, window, ())
            ]

    def test_the_same_choices_as_in_sql(self) -> None:
        store: Any = self.store
        for spread in Spread:
            for count in range(1, 17):
                needed = self.needed(count, spread)
                outcomes = []
                for timelines in (None, self.timelines):
                    with store.reading() as tx:
                        tx.timelines = timelines
                        chooser = Chooser(tx, LeasingSettings(), random.Random(1))
                        chosen = chooser.chosen(needed)
                        reasons = str(chooser.refusal(needed)) if chosen is None else ''
                    amounts = sorted(item.amount for item in chosen or ())
                    if spread is Spread.TOGETHER:
                        # Each of several hosts is good enough.
                        self.assertEqual([2 * count] if chosen else [], amounts)
                    outcomes.append((chosen is None, sum(amounts), reasons))
                self.assertEqual(outcomes[0], outcomes[1], (spread, count))

    def test_nothing_if_all_of_them_are_too_few(self) -> None:
        for spread, most in ((Spread.ANY, 15), (Spread.APART, 5), (Spread.TOGETHER, 5)):
            self.assertEqual([], self.rooms(self.needed(most + 1, spread)))
            self.assertNotEqual([], self.rooms(self.needed(most, spread)))

    def test_no_resource_that_is_too_small_for_all_slots(self) -> None:
        self.assertEqual([['compute-5', 'compute-6']], self.rooms(self.needed(4, Spread.TOGETHER)))

    def test_what_a_reservation_has_comes_first(self) -> None:
        needed = self.needed(2, Spread.ANY)
        mine = dataclasses.replace(needed, own={self.hosts[3]: 1})
        self.assertEqual(['compute-4'], self.rooms(mine)[0])


class TestAgain(SearchesCase):
    """A lease with several reservations tries them in more than one order."""

    def setUp(self) -> None:
        super().setUp()
        # More than SQL would read, and equally good.
        self.store.run(
            lambda tx: [tx.resources.insert(cases.host(number)) for number in range(10, 300)]
        )

    def test_an_equal_search_runs_once(self) -> None:
        needed = self.needed(1, Spread.ANY)
        search = dataclasses.replace(needed.search, demand={})
        whole = dataclasses.replace(needed, search=search, maximum=1000)
        window = Window(period=needed.period, padded=needed.padded)
        with self.searches() as searches, plans.captured(self.store.engine) as statements:
            first, rooms = searches.untouched(whole, ()), list(searches.rooms(needed, window, ()))
            read = len(statements)
            again = searches.untouched(dataclasses.replace(whole), ())
            self.assertEqual(291, len(first))
            # Chosen at random, so another search would differ.
            self.assertEqual(first, again)
            less = searches.untouched(whole, {first[0].resource_id})
            self.assertEqual(first[1:], less)
            self.assertEqual(rooms, list(searches.rooms(needed, window, ())))
            self.assertEqual(read, len(statements))
