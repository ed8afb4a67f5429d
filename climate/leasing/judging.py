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

"""Books what filters allow: choose, ask, write.

Without a filter that waits, all of it is one transaction. With one, the
choice is a transaction that writes nothing, the filters are asked while none
is open, and what was chosen is booked if it is still free. Otherwise the
question is taken back, and one about another choice is asked. So nobody is
asked for what cannot be had, and what is booked is what was asked for.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import random
import uuid
from collections.abc import Iterator
from typing import Protocol
from typing import TypeVar

from climate import exceptions
from climate.db.store import Store
from climate.db.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.requests import Caller
from climate.enforcement import ledger
from climate.enforcement.base import Action
from climate.enforcement.base import Question
from climate.enforcement.base import Terms
from climate.enforcement.gate import Gate
from climate.enforcement.limits import Limits
from climate.enforcement.limits import NONE
from climate.leasing import notices
from climate.leasing import quota
from climate.leasing.booking import LostRace

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """A lease as it would be, with what was chosen for it.

    :ivar allocations: all that it would have
    :ivar old: the lease as it is; None for a new one
    :ivar had: what it has
    :ivar judged: whether filters have a say in it
    :ivar limits: of the project
    """

    lease: Lease
    allocations: tuple[Allocation, ...] = ()
    old: Lease | None = None
    had: tuple[Allocation, ...] = ()
    judged: bool = True
    limits: Limits = NONE


P = TypeVar('P', bound=Plan)


class Proposal(Protocol[P]):
    """Something that somebody wants."""

    def plan(self, tx: Transaction, rng: random.Random) -> P:
        """Choose; writes nothing but rows of things, which a refusal takes with it."""
        ...

    def write(self, tx: Transaction, plan: P, charge_id: str | None) -> Lease:
        """Book what was planned, in the same or a later transaction.

        :param charge_id: of the question by which filters have allowed it
        :raises climate.leasing.booking.LostRace: if it cannot be had any more
        """
        ...


class Court:
    """Books proposals of callers.

    :param attempts: choices made before giving up a lost race
    """

    def __init__(
        self, store: Store, plugins: notices.Plugins, gate: Gate, rng: random.Random, attempts: int
    ) -> None:
        self._store = store
        self._plugins = plugins
        self._gate = gate
        self._rng = rng
        self._attempts = attempts

    def book(self, caller: Caller, proposal: Proposal[P]) -> Lease:
        """Book what somebody wants, or nothing.

        :raises climate.exceptions.BookedMeanwhile: if others keep booking the same
        :raises climate.exceptions.LimitExceeded: if a filter refuses a change
        :raises climate.exceptions.LeaseRefused: if a filter refuses a new lease
        """
        book = self._slowly if self._gate.waits else self._at_once
        for _ in range(self._attempts):
            try:
                return book(caller, proposal)
            except (LostRace, exceptions.BookedMeanwhile):
                continue
        raise exceptions.BookedMeanwhile

    def _at_once(self, caller: Caller, proposal: Proposal[P]) -> Lease:
        def work(tx: Transaction) -> Lease:
            plan = proposal.plan(tx, self._rng)
            question = self._question(tx, caller, plan)
            if question is not None:
                refusal = self._gate.judge(question).refusal
                if refusal is not None:
                    raise _told(question, refusal)
            return _written(tx, proposal, plan, None)

        return self._store.run(work)

    def _slowly(self, caller: Caller, proposal: Proposal[P]) -> Lease:
        plan, question = self._store.run(lambda tx: self._planned(tx, caller, proposal))
        if question is None:
            return self._store.run(lambda tx: _written(tx, proposal, plan, None))
        self._store.run(lambda tx: ledger.open_question(tx, self._gate, question))
        with self._taken_back(question):
            self._ask(question)
            return self._store.run(lambda tx: self._decided(tx, proposal, plan, question))

    def _planned(
        self, tx: Transaction, caller: Caller, proposal: Proposal[P]
    ) -> tuple[P, Question | None]:
        plan = proposal.plan(tx, self._rng)
        return plan, self._question(tx, caller, plan)

    def _ask(self, question: Question) -> None:
        verdict = self._gate.judge(question)
        if verdict.refusal is not None:
            self._store.run(lambda tx: ledger.refused(tx, self._gate, question, verdict.noted))
            raise _told(question, verdict.refusal)

    def _decided(
        self, tx: Transaction, proposal: Proposal[P], plan: P, question: Question
    ) -> Lease:
        lease = _written(tx, proposal, plan, question.id)
        if not ledger.booked(tx, self._gate, question):
            # A manager took us for dead, so the filters hear that it came to
            # nothing: it must.
            raise exceptions.ServiceUnavailable('It took too long to decide, please try again')
        return lease

    @contextlib.contextmanager
    def _taken_back(self, question: Question) -> Iterator[None]:
        """Tell the filters that nothing came of a question, if so."""
        try:
            yield
        except BaseException:
            try:
                self._store.run(lambda tx: ledger.failed(tx, self._gate, question))
            except Exception:
                # What went wrong first is what is to be told.
                LOG.exception('Lease %s: a manager takes it back', question.terms.lease.id)
            raise

    def _question(self, tx: Transaction, caller: Caller, plan: Plan) -> Question | None:
        """Return what the filters are asked; None if they have no say in it."""
        if not plan.judged or not self._gate.judges(plan.lease.project_id):
            return None
        current = None if plan.old is None else terms(tx, self._plugins, plan.old, plan.had)
        return Question(
            id=str(uuid.uuid4()),
            action=Action.CREATE if plan.old is None else Action.UPDATE,
            user_id=caller.user_id,
            now=tx.now,
            terms=terms(tx, self._plugins, plan.lease, plan.allocations),
            current=current,
        )


def _written(tx: Transaction, proposal: Proposal[P], plan: P, charge_id: str | None) -> Lease:
    """Write what was planned, if the project may have it."""
    with quota.held(tx, plan):
        return proposal.write(tx, plan, charge_id)


def terms(
    tx: Transaction,
    plugins: notices.Plugins,
    lease: Lease,
    allocations: tuple[Allocation, ...] | None = None,
) -> Terms:
    """Return a lease as filters are shown it.

    :param allocations: None for what it has
    """
    if allocations is None:
        ids = [reservation.id for reservation in lease.reservations]
        allocations = tuple(tx.allocations.live_of(ids)) if ids else ()
    resource_ids = {item.resource_id for item in allocations}
    return Terms(
        lease=lease,
        allocations=allocations,
        resources=tuple(tx.resources.with_ids(resource_ids)) if resource_ids else (),
        descriptions=notices.descriptions(lease, plugins),
    )


def _told(question: Question, refusal: exceptions.LimitExceeded) -> exceptions.ClimateError:
    """Return a refusal as clients know it: 403 to a new lease, 400 to a change."""
    if question.action is Action.UPDATE:
        return refusal
    error = exceptions.LeaseRefused(refusal.message)
    error.__cause__ = refusal
    return error
