# SPDX-License-Identifier: Apache-2.0

"""What a reservation holds, in words, and where its page is."""

from __future__ import annotations

from climate.domain import addresses
from climate.domain import wording
from tests.base import TestCase


class TestWording(TestCase):
    """Nouns, numbers and names."""

    def phrase(self, request: dict[str, object], names: list[str], count: int = -1) -> str:
        found = len(names) if count < 0 else count
        return wording.phrase(request, 'host', 'hosts', names, found)

    def test_what_is_held(self) -> None:
        names = ['compute-3', 'compute-4']
        self.assertEqual('2 hosts: compute-3, compute-4', self.phrase({'min': 1, 'max': 3}, names))
        self.assertEqual('1 host: compute-3', self.phrase({'min': 1, 'max': 3}, names[:1]))
        self.assertEqual('10 hosts on compute-3, compute-4', self.phrase({'amount': 10}, names))
        self.assertEqual('1 host: web', self.phrase({}, ['web']))

    def test_what_is_asked_for_if_nothing_is_held(self) -> None:
        self.assertEqual('3 hosts', self.phrase({'min': 1, 'max': 3}, []))
        self.assertEqual('2 hosts', self.phrase({'amount': 2, 'min': 0, 'max': 0}, []))
        self.assertEqual('1 host', self.phrase({'amount': None}, []))

    def test_many_names_are_cut(self) -> None:
        found = self.phrase({}, [f'n{number}' for number in range(25)], 200)
        self.assertTrue(found.startswith('200 hosts: n0, n1, '), found)
        self.assertTrue(found.endswith(', n19 and 180 more'), found)


class TestLeasePage(TestCase):
    """The form of links that the page reads: web/src/main.tsx."""

    def test_the_link_of_a_lease(self) -> None:
        expected = 'https://cloud.example.org/ui/#/lease/6ee5-1'
        self.assertEqual(expected, addresses.lease_page('https://cloud.example.org/ui', '6ee5-1'))
        self.assertEqual('/#/lease/a%2Fb%3F', addresses.lease_page('', 'a/b?'))
