# SPDX-License-Identifier: Apache-2.0

"""Charges: a question is decided once, and its outcome is sent in order, by one manager."""

from __future__ import annotations

import datetime
from typing import Any

from climate.domain.charges import Charge
from climate.domain.charges import ChargeState
from tests import services
from tests.functional.db import cases
from tests.threads import together

SOON = cases.NOW + datetime.timedelta(seconds=60)
FILTER = 'money'


def charge(name: str, lease: str = 'a', **facts: Any) -> Charge:
    """Return a charge that is due now."""
    values: dict[str, Any] = {
        'filter_name': FILTER,
        'state': ChargeState.COMMIT,
        'payload': {'name': name},
        'due': cases.NOW,
        **facts,
    }
    return Charge(charge_id=name, lease_id=lease, **values)


@services.on_each_engine(cases.StoreCase)
class Charges:
    """Managers on one store."""

    def put(self, *charges: Charge) -> None:
        """Write charges, each in a transaction of its own."""
        for one in charges:
            self.store.run(lambda tx, one=one: tx.charges.insert([one]))

    def claim(
        self, owner: str, limit: int = 10, filter_names: tuple[str, ...] = (FILTER,)
    ) -> list[str]:
        """Claim charges to send; return their ids."""
        return [one.charge_id for one in self.taken(owner, limit, filter_names)]

    def taken(
        self, owner: str, limit: int = 10, filter_names: tuple[str, ...] = (FILTER,)
    ) -> list[Charge]:
        """Claim charges to send."""
        until = self.clock.now() + datetime.timedelta(seconds=10)
        return self.store.run(lambda tx: tx.charges.claim(owner, until, filter_names, limit))

    def states(self, lease: str = 'a') -> list[tuple[str, str]]:
        """Return name and state of what is known of a lease."""
        with self.store.reading() as tx:
            return [(one.charge_id, one.state.value) for one in tx.charges.of_lease(lease)]

    def test_what_was_written_is_read(self) -> None:
        written = charge('q1', payload={'lease': {'name': 'ä', 'size': 3}})
        self.put(written)
        with self.store.reading() as tx:
            (found,) = tx.charges.of_lease('a')
            self.assertEqual({'commit': 1}, tx.charges.waiting())
        self.assertEqual(written.payload, found.payload)
        self.assertEqual((cases.NOW, 0, None), (found.due, found.attempts, found.error))
        self.assertEqual(cases.NOW, found.created_at)

    def test_a_question_is_decided_once(self) -> None:
        both = ('money', 'power')
        self.put(
            *(charge('q1', filter_name=name, state=ChargeState.ASKED, due=SOON) for name in both)
        )
        self.put(charge('q2', state=ChargeState.ASKED, due=SOON))

        def decide(state: ChargeState) -> int:
            return self.store.run(lambda tx: tx.charges.decide('q1', state, both))

        self.assertEqual((2, 0), (decide(ChargeState.COMMIT), decide(ChargeState.RELEASE)))
        self.assertEqual([('q1', 'commit'), ('q1', 'commit'), ('q2', 'asked')], self.states())
        self.store.run(lambda tx: tx.charges.forget('q1', both))
        self.store.run(lambda tx: tx.charges.forget('q2', ['power']))
        self.assertEqual(3, len(self.states()))
        self.store.run(lambda tx: tx.charges.forget('q2', both))
        self.assertEqual(2, len(self.states()))

    def test_an_undecided_question_is_withdrawn(self) -> None:
        self.put(charge('q1', state=ChargeState.ASKED, due=SOON), charge('q2', lease='b'))
        self.assertEqual(0, self.store.run(lambda tx: tx.charges.give_up()))
        self.assertEqual([], self.claim('me', filter_names=('other',)))
        self.clock.move_to(SOON)
        self.assertEqual(1, self.store.run(lambda tx: tx.charges.give_up()))
        decided = self.store.run(lambda tx: tx.charges.decide('q1', ChargeState.COMMIT, [FILTER]))
        self.assertEqual(0, decided)
        self.assertEqual([('q1', 'release')], self.states())
        self.assertEqual(['q2', 'q1'], self.claim('me'))

    def test_order_is_kept_for_each_lease_and_filter(self) -> None:
        self.put(
            charge('a0', state=ChargeState.ASKED, due=SOON),
            charge('a1'),
            charge('b1', lease='b'),
            charge('a2', state=ChargeState.END),
            charge('a3', filter_name='power'),
        )
        # An open question delays nothing; an unsent outcome does.
        self.assertEqual((['a1', 'b1'], []), (self.claim('me'), self.claim('you')))
        self.assertEqual(['a3'], self.claim('you', filter_names=('power',)))
        (first, _) = self.taken('me')
        self.store.run(lambda tx: tx.charges.delivered(first))
        self.assertEqual(['a2'], self.claim('you'))

    def test_what_is_not_taken_waits_and_holds_the_others_up(self) -> None:
        self.put(charge('a1'), charge('a2'), charge('b1', lease='b'))
        first = self.taken('me')[0]
        self.store.run(lambda tx: tx.charges.postpone(first, SOON, 'it answered 500'))
        self.store.run(lambda tx: tx.charges.give_back('me'))
        self.assertEqual(['b1'], self.claim('you'))
        self.clock.move_to(SOON)
        again = self.taken('me')
        self.assertEqual(['b1', 'a1'], [one.charge_id for one in again])
        self.assertEqual((1, 'it answered 500'), (again[1].attempts, again[1].error))

    def test_what_a_dead_manager_had_is_sent_by_another(self) -> None:
        self.put(charge('a1'))
        self.assertEqual((['a1'], ['a1']), (self.claim('me'), self.claim('me')))
        self.assertEqual([], self.claim('you'))
        self.clock.move_to(self.clock.now() + datetime.timedelta(seconds=11))
        self.assertEqual(['a1'], self.claim('you'))

    def test_two_who_claim_at_once_never_get_the_same(self) -> None:
        for number in range(20):
            self.put(charge(f'q{number}', lease=f'l{number}'))
        found: dict[int, list[str]] = {0: [], 1: []}

        def run(number: int) -> None:
            while charges := self.taken(f'manager-{number}', 3):
                for one in charges:
                    found[number].append(one.charge_id)
                    self.store.run(lambda tx, one=one: tx.charges.delivered(one))

        together(run, found)
        self.assertEqual((20, 20), (len(set(found[0] + found[1])), len(found[0] + found[1])))
