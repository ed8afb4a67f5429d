# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""What filters are to be told later, written in the transaction that it is about.

A question is written down before it is asked, with an instant at which it is
taken back by itself. The transaction that books the lease turns the rows to
``commit``; if it does not come, because the booking failed or whoever asked
died, they become ``release``. So a filter that charges is told one of the two
of everything it allowed, and a lease exists if and only if it is ``commit``.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping
from typing import Any

from climate.db.store import Transaction
from climate.domain.charges import Charge
from climate.domain.charges import ChargeState
from climate.enforcement.base import End
from climate.enforcement.base import Question
from climate.enforcement.gate import Gate


def open_question(tx: Transaction, gate: Gate, question: Question) -> None:
    """Write down that the filters are about to be asked."""
    due = tx.now + gate.undecided_for
    tx.charges.insert(
        Charge(
            charge_id=question.id,
            judge=name,
            lease_id=question.terms.lease.id,
            state=ChargeState.ASKED,
            payload=gate[name].note(question),
            due=due,
        )
        for name in gate.holding
    )


def refused(tx: Transaction, gate: Gate, question: Question, noted: Collection[str]) -> None:
    """Write down that a filter said no.

    :param noted: names of those who have to be told that nothing comes of it
    """
    holding = set(gate.holding)
    tell = sorted(holding & set(noted))
    if tell:
        tx.charges.decide(question.id, ChargeState.RELEASE, tell)
    spared = sorted(holding - set(noted))
    if spared:
        tx.charges.forget(question.id, spared)


def booked(tx: Transaction, gate: Gate, question: Question) -> bool:
    """Write down that it is done, in the transaction that does it.

    :returns: False if the question was taken back meanwhile: it must not be done
    """
    names = gate.holding
    if not names:
        return True
    return tx.charges.decide(question.id, ChargeState.COMMIT, names) == len(names)


def failed(tx: Transaction, gate: Gate, question: Question) -> None:
    """Write down that it could not be done after all."""
    if gate.holding:
        tx.charges.decide(question.id, ChargeState.RELEASE, gate.holding)


def undone(tx: Transaction, gate: Gate, question: Question) -> None:
    """Write down that what was done has been undone.

    :param question: of the same id, with the lease as it is again
    """
    tx.charges.insert(
        _now(tx, question.id, name, question.terms.lease.id, ChargeState.RELEASE, note)
        for name, note in _notes(gate, ChargeState.RELEASE, question).items()
    )


def ended(tx: Transaction, gate: Gate, end: End) -> None:
    """Write down that a lease is over."""
    tx.charges.insert(
        _now(tx, end.id, name, end.terms.lease.id, ChargeState.END, gate[name].note_end(end))
        for name in gate.hearing(ChargeState.END)
    )


def _notes(gate: Gate, state: ChargeState, question: Question) -> Mapping[str, Mapping[str, Any]]:
    return {name: gate[name].note(question) for name in gate.hearing(state)}


def _now(
    tx: Transaction,
    charge_id: str,
    judge: str,
    lease_id: str,
    state: ChargeState,
    payload: Mapping[str, Any],
) -> Charge:
    return Charge(
        charge_id=charge_id,
        judge=judge,
        lease_id=lease_id,
        state=state,
        payload=payload,
        due=tx.now,
    )
