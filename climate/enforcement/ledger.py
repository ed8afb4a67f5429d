# SPDX-License-Identifier: Apache-2.0

"""Records notifications to filters, in the transaction that they report.

A question is recorded before the filters receive it, with the instant at which it
expires. The transaction that books the lease changes the rows to ``commit``; if it
never comes, because the booking failed or the process died, they become
``release``. So a filter that charges receives one of the two for everything that it
allowed, and ``commit`` if and only if the lease exists.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping
from typing import Any

from climate.db.transactions.store import Transaction
from climate.domain.charges import Charge
from climate.domain.charges import ChargeState
from climate.enforcement.base import End
from climate.enforcement.base import FilterQuestion
from climate.enforcement.filters import Filters


def open_question(tx: Transaction, filters: Filters, question: FilterQuestion) -> None:
    """Record a question before the filters receive it."""
    due = tx.now + filters.undecided_for
    tx.charges.insert(
        Charge(
            charge_id=question.id,
            filter_name=name,
            lease_id=question.terms.lease.id,
            state=ChargeState.ASKED,
            payload=filters[name].note(question),
            due=due,
        )
        for name in filters.notified_of_outcomes
    )


def refused(
    tx: Transaction, filters: Filters, question: FilterQuestion, noted: Collection[str]
) -> None:
    """Record that a filter has refused.

    :param noted: names of the filters to notify that nothing was booked
    """
    notified = set(filters.notified_of_outcomes)
    released = sorted(notified & set(noted))
    if released:
        tx.charges.decide(question.id, ChargeState.RELEASE, released)
    spared = sorted(notified - set(noted))
    if spared:
        tx.charges.forget(question.id, spared)


def booked(tx: Transaction, filters: Filters, question: FilterQuestion) -> bool:
    """Record that the lease is booked, in the transaction that books it.

    :returns: False if the question has expired: the lease must not be booked
    """
    names = filters.notified_of_outcomes
    if not names:
        return True
    return tx.charges.decide(question.id, ChargeState.COMMIT, names) == len(names)


def failed(tx: Transaction, filters: Filters, question: FilterQuestion) -> None:
    """Record that the booking has failed."""
    if filters.notified_of_outcomes:
        tx.charges.decide(question.id, ChargeState.RELEASE, filters.notified_of_outcomes)


def undone(tx: Transaction, filters: Filters, question: FilterQuestion) -> None:
    """Record that a change was undone.

    :param question: with the same id, and with the restored lease
    """
    tx.charges.insert(
        _now(tx, question.id, name, question.terms.lease.id, ChargeState.RELEASE, note)
        for name, note in _notes(filters, ChargeState.RELEASE, question).items()
    )


def ended(tx: Transaction, filters: Filters, end: End) -> None:
    """Record that a lease has ended."""
    tx.charges.insert(
        _now(tx, end.id, name, end.terms.lease.id, ChargeState.END, filters[name].note_end(end))
        for name in filters.notified_of(ChargeState.END)
    )


def _notes(
    filters: Filters, state: ChargeState, question: FilterQuestion
) -> Mapping[str, Mapping[str, Any]]:
    return {name: filters[name].note(question) for name in filters.notified_of(state)}


def _now(
    tx: Transaction,
    charge_id: str,
    filter_name: str,
    lease_id: str,
    state: ChargeState,
    payload: Mapping[str, Any],
) -> Charge:
    return Charge(
        charge_id=charge_id,
        filter_name=filter_name,
        lease_id=lease_id,
        state=state,
        payload=payload,
        due=tx.now,
    )
