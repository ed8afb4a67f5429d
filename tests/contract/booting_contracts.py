# SPDX-License-Identifier: Apache-2.0

"""What every client of Nova is held to about servers that others boot."""

from __future__ import annotations

import datetime

from climate import exceptions
from climate.cloud import base
from tests.contract import contracts
from tests.narrowing import present
from tests.waiting import until

METADATA = {'climate:lease_end': '2030-01-01 00:00', 'a': 'b'}
HINT = '{"name": "x", "end": "2030-01-01 00:00"}'


class BootedContract(contracts.Contract):
    """list_servers_since, scheduler_hints, set_server_metadata."""

    def setUp(self) -> None:
        super().setUp()
        self.server_id = self.made()

    def made(self) -> str:
        """Boot a server that goes away after the test."""
        server_id = self.backend.boot_described(
            self.backend.hosts[0], metadata=METADATA, scheduler_hints={'lease_params': HINT}
        )
        self.addCleanup(self.gone, server_id)
        return server_id

    def test_who_made_it_and_when(self) -> None:
        found = present(self.compute.find_server(self.server_id))
        self.assertTrue(found.user_id)
        age = datetime.datetime.now(datetime.UTC) - found.created_at
        self.assertLess(abs(age), datetime.timedelta(minutes=5))
        self.assertEqual((datetime.UTC, 0), (found.created_at.tzinfo, found.created_at.microsecond))

    def test_listed_since_it_was_made(self) -> None:
        found = present(self.compute.find_server(self.server_id))
        second = datetime.timedelta(seconds=1)
        half = datetime.timedelta(microseconds=500000)
        for instant, listed in (
            (found.created_at - second, True),
            (found.created_at + half, True),
            (found.created_at + second, False),
        ):
            ids = [one.id for one in self.compute.list_servers_since(instant)]
            self.assertEqual(listed, self.server_id in ids, instant)

    def test_listed_in_their_order_until_they_are_gone(self) -> None:
        first = present(self.compute.find_server(self.server_id))
        second = self.made()

        def mine() -> list[str]:
            listed = self.compute.list_servers_since(first.created_at)
            found = [i.created_at for i in listed]
            self.assertEqual(sorted(one.created_at for one in listed), found)
            return [one.id for one in listed if one.id in (first.id, second)]

        self.assertEqual({first.id, second}, set(mine()))
        self.gone(second)
        self.assertEqual([first.id], mine())

    def test_hints(self) -> None:
        self.assertIn(self.compute.scheduler_hints(self.server_id)['lease_params'], (HINT, [HINT]))
        self.assertEqual({}, self.compute.scheduler_hints(contracts.NOBODY))

    def test_metadata_is_set_and_the_rest_stays(self) -> None:
        for value in ('1', 'ü', 'ü', 'x' * 255):
            self.compute.set_server_metadata(self.server_id, {'climate:lease_id': value})
            found = present(self.compute.find_server(self.server_id))
            self.assertEqual({**METADATA, 'climate:lease_id': value}, found.metadata)

    def test_metadata_that_is_not_taken(self) -> None:
        set_metadata = self.compute.set_server_metadata
        self.assertRaises(base.CloudNotFound, set_metadata, contracts.NOBODY, {'a': 'b'})
        for wrong in ({'ä': '1'}, {'a': 'x' * 256}, {'': '1'}):
            error = self.assertRaises(exceptions.Permanent, set_metadata, self.server_id, wrong)
            self.assertIs(exceptions.Permanent, type(error))

    def test_an_answer_that_was_lost(self) -> None:
        verb = self.compute.set_server_metadata
        self.lost('compute.set_server_metadata', verb, self.server_id, {'a': '2'})
        verb(self.server_id, {'a': '2'})
        found = present(self.compute.find_server(self.server_id))
        self.assertEqual({**METADATA, 'a': '2'}, found.metadata)


class BootedAndShelvedContract(BootedContract):
    """The same, of what can be shelved."""

    def test_metadata_of_a_shelved_server(self) -> None:
        self.compute.shelve_server(self.server_id)

        def shelved() -> bool:
            found = present(self.compute.find_server(self.server_id))
            return found.status == 'SHELVED_OFFLOADED' and found.task_state is None

        until(shelved, self.backend.patience, 'it is shelved')
        set_metadata = self.compute.set_server_metadata
        self.assertRaises(base.CloudConflict, set_metadata, self.server_id, {'a': '2'})
