# SPDX-License-Identifier: Apache-2.0

"""The ledger of storms and upgrades notices what is lost, doubled or not settled."""

from __future__ import annotations

from tests import base
from tests.exhaustive import deployed_ledger
from tests.usage_service import Call


def call(name: str, number: str, lease_id: str = 'lease', **facts: bool) -> Call:
    return Call(name=name, body={'id': number, 'lease': {'id': lease_id}, **facts}, headers={})


CREATED = (call('check-create', 'one'), call('commit', 'one'), call('commit', 'one'))
ENDED = (call('on-end', 'end'), call('on-end', 'end'))
LIFE = (*CREATED, *ENDED)


class TestCharges(base.TestCase):
    """What a usage service was asked and notified of."""

    def check(self, wanted: list[str], *calls: Call, leases: tuple[str, ...] = ('lease',)) -> None:
        found = list(deployed_ledger.miscounted(calls, leases))
        self.assertEqual(len(wanted), len(found), found)
        for words, text in zip(wanted, found, strict=True):
            self.assertIn(words, text)

    def test_ledger_without_faults(self) -> None:
        change = (call('check-update', 'two'), call('commit', 'two'))
        undone = call('release', 'two', undone=True)
        refused = (call('check-create', 'three', 'other'), call('release', 'three', 'other'))
        self.check([], *CREATED, *change, undone, *refused, *ENDED)

    def test_a_question_without_an_outcome(self) -> None:
        self.check(['question two has the outcomes []'], *LIFE, call('check-update', 'two'))

    def test_a_question_with_two_outcomes(self) -> None:
        self.check(["outcomes ['commit', 'release']"], *LIFE, call('release', 'one'))

    def test_a_lease_that_was_billed_and_does_not_exist(self) -> None:
        self.check(["1 leases were billed, 0 exist: ['lease']"], *LIFE, leases=())

    def test_a_lease_that_was_billed_twice(self) -> None:
        again = (call('check-create', 'two'), call('commit', 'two'))
        self.check(['2 leases were billed, 1 exist'], *LIFE, *again)

    def test_a_lease_that_was_not_billed(self) -> None:
        self.check(['0 leases were billed'], *ENDED)

    def test_no_end_and_two_ends(self) -> None:
        self.check(['0 ends were charged'], *CREATED)
        self.check(['2 ends were charged'], *LIFE, call('on-end', 'other end'))


class TestEvents(base.TestCase):
    """The notifications about leases."""

    def test_lost_events(self) -> None:
        wanted = deployed_ledger.expected(['a', 'b'], [('a', 'ACTIVE'), ('a', 'DELETING')])
        notified = {'a': {'lease.create', 'lease.delete'}, 'c': {'lease.create'}}
        expected = [
            'a: no lease.event.start_lease here',
            'b: no lease.create here',
            'b: no lease.delete here',
        ]
        self.assertEqual(expected, deployed_ledger.lost(wanted, notified, 'here'))
