# SPDX-License-Identifier: Apache-2.0

"""Lists of Nova whose items disappear between two pages."""

from __future__ import annotations

import dataclasses

from hypothesis import given
from hypothesis import strategies as st
from novaclient import exceptions as nova

from climate.cloud.nova import pages
from tests import base

PAGE = 3


@dataclasses.dataclass
class Item:
    """A server, say."""

    id: str


class Listing:
    """A list of Nova, of which something disappears before each request but the first."""

    def __init__(self, items: list[str], going: list[set[str]]) -> None:
        self.items = items
        self.going = going
        self.requests = 0

    def fetch(self, marker: str | None) -> list[Item]:
        """Return a page, or raise a 400 for a marker that is gone."""
        if self.requests and self.going:
            gone = self.going.pop()
            self.items = [item for item in self.items if item not in gone]
        self.requests += 1
        if marker is not None and marker not in self.items:
            raise nova.BadRequest(400, f'marker [{marker}] not found')
        first = 0 if marker is None else self.items.index(marker) + 1
        return [Item(item) for item in self.items[first : first + PAGE]]


IDS = st.sampled_from([f'{number:02d}' for number in range(12)])


class TestPages(base.TestCase):
    """climate.cloud.nova.pages."""

    @given(st.sets(IDS), st.lists(st.sets(IDS), max_size=6))
    def test_what_stays_is_found_once(self, there: set[str], going: list[set[str]]) -> None:
        listing = Listing(sorted(there), [set(each) for each in going])
        found = [item.id for item in pages.every(listing.fetch)]
        self.assertEqual(len(set(found)), len(found))
        self.assertLessEqual(there - set().union(*going), set(found))
        self.assertLessEqual(set(found), there)

    def test_many_deletions_cost_few_requests(self) -> None:
        there = [f'{number:04d}' for number in range(999)]
        listing = Listing(list(there), [])
        fetch = listing.fetch

        def last_page_is_gone(marker: str | None) -> list[Item]:
            if marker == there[-1]:
                listing.items = there[:3]
            return fetch(marker)

        self.assertEqual(there, [item.id for item in pages.every(last_page_is_gone)])
        self.assertLess(listing.requests, 999 / PAGE + 20)

    def test_a_bad_request_for_another_reason_is_raised(self) -> None:
        def refused(marker: str | None) -> list[Item]:
            if marker is None:
                return [Item('1')]
            raise nova.BadRequest(400, 'a filter that Nova does not know')

        def refused_at_once(_marker: str | None) -> list[Item]:
            raise nova.BadRequest(400, 'a filter that Nova does not know')

        self.assertRaises(nova.BadRequest, pages.every, refused_at_once)
        self.assertRaises(nova.BadRequest, pages.every, refused)
