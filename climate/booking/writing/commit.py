# SPDX-License-Identifier: Apache-2.0

"""Books what filters allow: choose, check, write.

Without a filter that waits, all of it is one transaction. With one, the choice
is a transaction that writes nothing, the filters are asked while no transaction
is open, and the choice is booked if it is still free. Otherwise the question is
withdrawn, and another choice is made. So filters only check leases that can be
booked, and Climate books exactly what they allowed.
"""

from __future__ import annotations

import abc
import contextlib
import dataclasses
import logging
import uuid
from collections.abc import Iterator
from typing import Final
from typing import Generic
from typing import TypeVar

from climate import exceptions
from climate.booking.choosing.choose import LostRace
from climate.booking.requests.context import Context
from climate.booking.requests.prepare import Findings
from climate.booking.requests.prepare import Missing
from climate.booking.requests.prepare import NOTHING
from climate.booking.writing.rests import HeldRest
from climate.db.transactions.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.requests import Caller
from climate.enforcement import ledger
from climate.enforcement import limits
from climate.enforcement.base import Action
from climate.enforcement.base import AllocatedLease
from climate.enforcement.base import FilterQuestion
from climate.enforcement.limits import Limits
from climate.exceptions.failures import log_failure
from climate.leases import notices
from climate.metrics import catalogue
from climate.metrics import recording

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class AllocationRequest:
    """A lease as it would be, with the allocations that were chosen for it.

    :ivar allocations: all that it would have
    :ivar old: the lease as it is; None for a new one
    :ivar had: the allocations that it has
    :ivar filtered: whether filters check it
    :ivar limits: of the project
    :ivar displaced: the flexible leases that give it their place
    :ivar cut: the preemptible leases that run, and yield to it
    :ivar rests: what is held of it, and of others, after their present slices
    """

    lease: Lease
    allocations: tuple[Allocation, ...] = ()
    old: Lease | None = None
    had: tuple[Allocation, ...] = ()
    filtered: bool = True
    limits: Limits = limits.NONE
    displaced: tuple[AllocationRequest, ...] = ()
    cut: tuple[AllocationRequest, ...] = ()
    rests: tuple[HeldRest, ...] = ()


ROOM: Final = 'room'
DISPLACED: Final = 'displaced'

R = TypeVar('R', bound=AllocationRequest)


@dataclasses.dataclass(frozen=True, kw_only=True)
class BookingWork(abc.ABC, Generic[R]):
    """The work of one use case, whose only effects are in SQL.

    :ivar findings: results of the cloud calls so far
    """

    context: Context
    caller: Caller
    findings: Findings = NOTHING

    @abc.abstractmethod
    def choose(self, tx: Transaction) -> R | Missing:
        """Choose what to book.

        Write nothing but rows of things, which are removed again if the lease is not booked.

        :returns: the choice, or the cloud calls that are needed first
        :raises climate.exceptions.ClimateError: if it cannot be booked
        """

    @abc.abstractmethod
    def write(self, tx: Transaction, request: R, charge_id: str | None = None) -> Lease:
        """Book what was chosen in the same transaction, or in an earlier one.

        :param charge_id: of the question that filters have answered; None without one
        :raises climate.booking.choosing.choose.LostRace: if the choice is out of date
        """

    def committed(self, request: R) -> None:
        """Record what was committed, for metrics."""
        for one in request.displaced:
            record_move(one, DISPLACED)

    def recheck(self, tx: Transaction, request: R) -> None:
        """Check a choice of an earlier transaction, before the limits are checked.

        :raises climate.booking.choosing.choose.LostRace: if the choice is out of date
        """


def record_move(request: AllocationRequest, cause: str) -> None:
    """Record by how much a flexible lease has moved.

    :param cause: :data:`ROOM` or :data:`DISPLACED`
    """
    if request.old is not None:
        moved = request.lease.period.start - request.old.period.start
        recording.observe(catalogue.MOVES, abs(moved.total_seconds()), cause)


def book(work: BookingWork[R]) -> Lease | Missing:
    """Book a lease, or change one, or write nothing.

    :returns: the lease, or the cloud calls that are needed first
    :raises climate.exceptions.BookedMeanwhile: if other requests keep winning the race
    :raises climate.exceptions.LimitExceeded: if a filter refuses a change
    :raises climate.exceptions.LeaseRefused: if a filter refuses a new lease
    """
    context = work.context
    attempt = _in_several_transactions if context.filters.waits else _in_one_transaction
    for _ in range(context.settings.booking_attempts):
        try:
            outcome = attempt(work)
        except (LostRace, exceptions.BookedMeanwhile):
            continue
        if isinstance(outcome, Lease):
            context.wake()
        return outcome
    raise exceptions.BookedMeanwhile


def _in_one_transaction(work: BookingWork[R]) -> Lease | Missing:
    def attempt(tx: Transaction) -> tuple[Lease, R] | Missing:
        request = work.choose(tx)
        if isinstance(request, Missing):
            tx.undo()
            return request
        check_filters(tx, work.context, work.caller, request)
        return _written(tx, work, request, None), request

    outcome = work.context.store.run(attempt, budget=work.caller.budget)
    if isinstance(outcome, Missing):
        return outcome
    lease, request = outcome
    work.committed(request)
    return lease


def check_filters(
    tx: Transaction, context: Context, caller: Caller, request: AllocationRequest
) -> None:
    """Ask the filters about a lease, if none of them waits.

    :raises climate.exceptions.LimitExceeded: if a filter refuses a change
    :raises climate.exceptions.LeaseRefused: if a filter refuses a new lease
    """
    question = _question(tx, context, caller, request)
    if question is not None:
        refusal = context.filters.check(question).refusal
        if refusal is not None:
            raise _refused(question, refusal)


def _in_several_transactions(work: BookingWork[R]) -> Lease | Missing:
    store, filters = work.context.store, work.context.filters

    def choose(tx: Transaction) -> tuple[R | Missing, FilterQuestion | None]:
        found = work.choose(tx)
        if isinstance(found, Missing):
            tx.undo()
            return found, None
        return found, _question(tx, work.context, work.caller, found)

    request, question = store.run(choose, budget=work.caller.budget)
    if isinstance(request, Missing):
        return request
    if question is None:
        lease = store.run(lambda tx: _rewritten(tx, work, request, None))
        work.committed(request)
        return lease
    store.run(lambda tx: ledger.open_question(tx, filters, question))
    with _withdrawn(work.context, question):
        verdict = filters.check(question)
        if verdict.refusal is not None:
            store.run(lambda tx: ledger.refused(tx, filters, question, verdict.noted))
            raise _refused(question, verdict.refusal)
        lease = store.run(lambda tx: _decided(tx, work, request, question))
    work.committed(request)
    return lease


def _decided(tx: Transaction, work: BookingWork[R], request: R, question: FilterQuestion) -> Lease:
    lease = _rewritten(tx, work, request, question.id)
    if not ledger.booked(tx, work.context.filters, question):
        # A manager assumed that this process was dead, and has withdrawn the
        # question from the filters: nothing may be booked.
        raise exceptions.ServiceUnavailable('It took too long to decide, please try again')
    return lease


@contextlib.contextmanager
def _withdrawn(context: Context, question: FilterQuestion) -> Iterator[None]:
    """Withdraw a question from the filters if the booking fails."""
    try:
        yield
    except BaseException:
        try:
            context.store.run(lambda tx: ledger.failed(tx, context.filters, question))
        except Exception as error:
            # The first error is the one to report.
            log_failure(
                LOG,
                error,
                'Lease %s: the question cannot be withdrawn now; a manager will do so',
                question.terms.lease.id,
            )
        raise


def _question(
    tx: Transaction, context: Context, caller: Caller, request: AllocationRequest
) -> FilterQuestion | None:
    """Return the question to the filters; None if they do not check the request."""
    filters = context.filters
    if not (request.filtered and filters.names and filters.applies_to(request.lease.project_id)):
        return None
    plugins, old = context.plugins, request.old
    return FilterQuestion(
        id=str(uuid.uuid4()),
        action=Action.CREATE if old is None else Action.UPDATE,
        user_id=caller.user_id,
        now=tx.now,
        terms=terms(tx, plugins, request.lease, request.allocations),
        current=None if old is None else terms(tx, plugins, old, request.had),
    )


def _written(tx: Transaction, work: BookingWork[R], request: R, charge_id: str | None) -> Lease:
    """Write what was chosen, if the limits of the project allow it."""
    with limits.held(
        tx, request.limits, request.lease, request.old, request.allocations, request.had
    ):
        return work.write(tx, request, charge_id)


def _rewritten(tx: Transaction, work: BookingWork[R], request: R, charge_id: str | None) -> Lease:
    """Write what an earlier transaction chose."""
    work.recheck(tx, request)
    return _written(tx, work, request, charge_id)


def terms(
    tx: Transaction,
    plugins: notices.Plugins,
    lease: Lease,
    allocations: tuple[Allocation, ...] | None = None,
) -> AllocatedLease:
    """Return a lease as filters see it.

    :param allocations: None for those that it has
    """
    if allocations is None:
        ids = [reservation.id for reservation in lease.reservations]
        allocations = tuple(tx.allocations.live_of(ids)) if ids else ()
    resource_ids = {item.resource_id for item in allocations}
    return AllocatedLease(
        lease=lease,
        allocations=allocations,
        resources=tuple(tx.resources.with_ids(resource_ids)) if resource_ids else (),
        descriptions=notices.descriptions(lease, plugins),
    )


def _refused(
    question: FilterQuestion, refusal: exceptions.LimitExceeded
) -> exceptions.ClimateError:
    """Return a refusal with the status clients expect: 403 for a new lease, 400 for a change."""
    if question.action is Action.UPDATE:
        return refusal
    error = exceptions.LeaseRefused(refusal.message)
    error.__cause__ = refusal
    return error
