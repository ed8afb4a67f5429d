# SPDX-License-Identifier: Apache-2.0
"""Things that exist already, such as a server of somebody's: two leases never have one."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from climate import exceptions
from climate.cloud.base import Cloud
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.plugins import contract as plugins
from tests import base
from tests import drafts
from tests import services
from tests.functional.manager.harness import at
from tests.functional.manager.harness import CALLER
from tests.functional.manager.harness import Site

TYPE = 'virtual:thing'


class Things(plugins.Plugin[str]):
    """Takes a thing by its name, and does nothing with it.

    :ivar noted: which effects were run on which things
    """

    resource_type = TYPE
    request_schema: Mapping[str, Any] = {}

    def __init__(self) -> None:
        self.noted: list[tuple[str, str]] = []

    @classmethod
    def from_conf(cls, conf: Any) -> Things:
        """Return the plugin."""
        return cls()

    def parse(self, body: Mapping[str, Any], *, strict: bool = False) -> str:
        """Return the name."""
        return str(body['name'])

    def change(
        self, request: str, body: Mapping[str, Any], *, strict: bool = False, running: bool = False
    ) -> str:
        """Return the other name."""
        return str(body['name'])

    def dump(self, request: str) -> dict[str, Any]:
        """Return the name."""
        return {'name': request}

    def load(self, stored: Mapping[str, Any]) -> str:
        """Return the name."""
        return str(stored['name'])

    def things(self, request: str) -> Sequence[str]:
        """Return the one."""
        return (request,)

    def search(self, request: str) -> plugins.Search:
        """Ask for it."""
        return plugins.Search(
            resource_type=TYPE, minimum=1, maximum=1, names=(request,), noun='things'
        )

    def describe(self, reservation: Reservation) -> dict[str, Any]:
        """Return the name."""
        return dict(reservation.request)

    def start(self, work: plugins.Work, cloud: Cloud) -> plugins.Outcome:
        """Note it."""
        return self._note('start', work)

    def end(self, work: plugins.Work, cloud: Cloud) -> plugins.Outcome:
        """Note it."""
        return self._note('end', work)

    def undo(self, work: plugins.Work, cloud: Cloud) -> plugins.Outcome:
        """Note it."""
        return self._note('undo', work)

    def _note(self, effect: str, work: plugins.Work) -> plugins.Outcome:
        self.noted += [(effect, item.name) for item in work.resources]
        return plugins.Done()


@services.on_each_engine(base.TestCase, 'TestThingsOn')
class _Things:
    """Any number of things; nobody has registered them."""

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(Site(database=self.kind))
        self.plugin = Things()
        self.site.plugins[TYPE] = self.plugin

    def book(self, start: float, end: float, *names: str) -> Lease:
        """Book things, from and to so many seconds after noon."""
        draft = drafts.lease(
            at(start),
            at(end),
            *({'resource_type': TYPE, 'name': name} for name in names),
            name='things',
            asked_at=at(0),
        )
        return self.site.leases.create(CALLER, draft)

    def names(self, lease: Lease) -> list[str]:
        """Return the things that a lease has."""
        return sorted(item.resource_name for item in self.site.allocations(lease))

    def test_the_second_is_refused(self) -> None:
        self.assertEqual(['a'], self.names(self.book(1000, 2000, 'a')))
        self.assertEqual(['b'], self.names(self.book(1000, 2000, 'b')))
        # Another one that is free does not take its place.
        self.book(5000, 6000, 'c')
        for start, end in ((1000, 2000), (500, 1001), (1999, 3000), (1, 9000)):
            self.assertRaises(exceptions.NotEnoughResources, self.book, start, end, 'a')
        self.assertEqual(['a'], self.names(self.book(500, 1000, 'a')))
        self.assertEqual(['a'], self.names(self.book(2000, 3000, 'a')))
        self.site.until(4000)
        mine = [effect for effect, name in self.plugin.noted if name == 'a']
        self.assertEqual(['start', 'end'] * 3, mine)

    def test_not_twice_in_one_lease(self) -> None:
        refused = self.assertRaises(exceptions.InvalidInput, self.book, 1, 2, 'a', 'b', 'a')
        self.assertIn('a is requested twice', refused.message)
        self.assertEqual(['a', 'b'], self.names(self.book(1000, 2000, 'a', 'b')))

    def test_one_of_two_that_is_taken_takes_the_other_with_it(self) -> None:
        self.book(1000, 2000, 'a')
        self.assertRaises(exceptions.NotEnoughResources, self.book, 1500, 2500, 'b', 'a')
        self.assertEqual(['b'], self.names(self.book(1500, 2500, 'b')))

    def test_of_many_at_once_one_gets_it(self) -> None:
        def book(_number: int) -> bool:
            try:
                self.book(1000, 2000, 'a', 'b')
            except (exceptions.NotEnoughResources, exceptions.BookedMeanwhile):
                return False
            return True

        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            self.assertEqual(1, sum(pool.map(book, range(36))))

    def test_deleted_before_the_start_it_is_free_and_stays_as_it_was(self) -> None:
        lease = self.book(1000, 2000, 'a')
        self.site.until(500)
        self.site.delete(lease)
        self.site.work()
        self.assertEqual(['a'], self.names(self.book(1000, 2000, 'a')))
        self.assertEqual([], self.plugin.noted)
