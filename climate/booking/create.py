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

"""Books a new lease."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import functools
import logging
import operator
import uuid
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from typing import TypeVar

from climate import exceptions
from climate.booking import commit
from climate.booking import placements
from climate.booking import prepare
from climate.booking import requests
from climate.booking import trusts
from climate.booking.choice import Choice
from climate.booking.choice import Chooser
from climate.booking.choose import lock
from climate.booking.choose import together
from climate.booking.commit import AllocationRequest
from climate.booking.context import Context
from climate.booking.requests import ReservationRequest
from climate.booking.requirements import Requirements
from climate.db import inserts
from climate.db.store import Store
from climate.db.store import Transaction
from climate.domain import events
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.periods import floored
from climate.domain.periods import Period
from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft
from climate.enforcement import limits
from climate.exceptions.failures import log_failure
from climate.leases import dates
from climate.leases import notices
from climate.leases import schedule

LOG = logging.getLogger(__name__)
_PLUGIN = operator.attrgetter('plugin')


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class NewLease:
    """A requested lease that has passed all checks that need no SQL.

    :ivar requests: with their parts
    :ivar ids: of the reservations, in the order of the requests
    :ivar things: existing things that are requested, by type and name
    :ivar makes: whether the caller has to make something first
    """

    caller: Caller
    draft: LeaseDraft
    requests: tuple[ReservationRequest, ...]
    ids: tuple[str, ...]
    things: tuple[tuple[str, str], ...]
    makes: bool
    limits: limits.Limits


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Chosen(AllocationRequest):
    """A lease that is not written yet.

    :ivar held: the new ids of reservations that have the allocations already, by the
        old ones; empty if the allocations are to be booked
    """

    choice: Choice
    held: Mapping[str, str] = dataclasses.field(default_factory=dict)


C = TypeVar('C', bound=Chosen)


def create(context: Context, caller: Caller, draft: LeaseDraft) -> Lease:
    """Book a lease.

    :raises climate.exceptions.InvalidInput: naming the field that is wrong
    :raises climate.exceptions.NotEnoughResources: if the period is taken
    :raises climate.exceptions.LeaseRefused: if a limit or a filter forbids it
    """
    if draft.id is not None and (found := earlier(context, draft.id)) is not None:
        return found
    new = checked(context, caller, draft)

    def steps(trust_id: str | None, findings: prepare.Findings) -> commit.Steps[Chosen]:
        return commit.Steps(
            choose=lambda tx: choose(tx, context, new, findings, trust_id),
            write=lambda tx, chosen, _: write(tx, context, chosen, findings),
        )

    return booked(context, new, steps)


def booked(
    context: Context,
    new: NewLease,
    steps: Callable[[str | None, prepare.Findings], commit.Steps[C]],
) -> Lease:
    """Book a lease, after everything that its effects need has been made.

    :param steps: returns the steps of the booking, with the id of the caller's trust and
        the results of the cloud calls so far
    :raises climate.exceptions.ClimateError: if the lease cannot be booked
    """
    caller = new.caller

    def book(trust_id: str | None, findings: prepare.Findings) -> Lease | prepare.Missing:
        return commit.book(context, caller, steps(trust_id, findings))

    with _trust(context, new) as trust_id, _things(context, new):
        outcome = book(trust_id, prepare.NOTHING)
        if not isinstance(outcome, Lease):
            outcome = prepare.booked(context, caller, functools.partial(book, trust_id), outcome)
    LOG.info('Lease %s: booked for project %s', outcome.id, outcome.project_id)
    return outcome


def earlier(context: Context, lease_id: str) -> Lease | None:
    """Return the lease that an earlier try has booked with this id; None if none has.

    :raises climate.exceptions.Conflict: if it was deleted since
    """
    with context.store.reading() as tx:
        if tx.leases.project_of(lease_id) is None:
            return None
        lease = tx.leases.find(lease_id)
    if lease is None:
        raise exceptions.Conflict(f'Lease {lease_id} was booked, and has been deleted since')
    return lease


def checked(context: Context, caller: Caller, draft: LeaseDraft) -> NewLease:
    """Run the checks of a new lease that need no SQL, including those in the cloud.

    :raises climate.exceptions.InvalidInput: naming the field that is wrong
    :raises climate.exceptions.LeaseRefused: if it has too many reservations
    """
    check_dates(draft, draft.asked_at or context.clock.now())
    allowed = context.settings.limits.of(caller.project_id) if draft.limited else limits.NONE
    limits.check_reservations(allowed, draft.reservations)
    found = requests.read(context, caller, draft)
    ids = tuple(str(uuid.uuid4()) for _ in found)
    return NewLease(
        caller=caller,
        draft=draft,
        requests=requests.with_ids(found, ids) if draft.placements else tuple(found),
        ids=ids,
        things=requests.things(found),
        makes=any(one.needs.makes is not None for one in found),
        limits=allowed,
    )


def check_dates(draft: LeaseDraft, asked_at: datetime.datetime) -> None:
    """Check the dates of a new lease.

    :raises climate.exceptions.InvalidInput: with the text clients expect
    :raises climate.exceptions.OutsideLease: if the notice of its end lies outside
    """
    if _is_past(draft.start, draft, asked_at):
        raise exceptions.InvalidInput('Start date must be later than current date')
    if draft.end <= draft.start:
        raise exceptions.InvalidPeriod
    if draft.end <= asked_at:
        raise exceptions.InvalidInput('End date must be later than current and start date')
    if draft.before_end_date is not None:
        dates.check_before_end(draft.before_end_date, draft.start, draft.end)
    for place, event in enumerate(draft.events):
        if _is_past(event.time, draft, asked_at) or event.time > draft.end:
            raise exceptions.InvalidInput(
                f'events[{place}]: the time of an event must lie between now and the end'
            )


def _is_past(instant: datetime.datetime, draft: LeaseDraft, asked_at: datetime.datetime) -> bool:
    """Whether an instant is in the past, in the precision of the client."""
    return instant < asked_at and instant < floored(asked_at, draft.grain)


def choose(
    tx: Transaction,
    context: Context,
    new: NewLease,
    findings: prepare.Findings = prepare.NOTHING,
    trust_id: str | None = None,
    pick: Chooser | None = None,
) -> Chosen | prepare.Missing:
    """Choose resources for a new lease; write nothing but rows of things.

    :param findings: results of the cloud calls so far
    :param trust_id: of the caller's trust; None if none is needed
    :param pick: chooses what the reservations require; None for free resources
    :returns: the choice, or what the caller has to make first
    :raises climate.exceptions.NotEnoughResources: if the period is taken
    :raises climate.exceptions.LeaseRefused: if a limit of the project forbids it
    """
    lease = proposed(tx, new, findings, trust_id)
    if new.draft.id is not None and tx.leases.project_of(lease.id) is not None:
        # By another try of this request. The next one finds the lease, see earlier().
        raise exceptions.IdempotencyKeyInUse(retry_after=1)
    period = lease.period.after(tx.now)
    padded = period.padded(context.settings.cleaning_time)
    has = tx.projects.leases(lease.project_id) if new.limits.leases else 0
    limits.check_new(new.limits, lease, has, tx.now)
    for resource_type, name in new.things:
        tx.things.ensure(resource_type, name, new.caller.project_id)
    needed = requirements(new, period, padded)
    if pick is None:
        choice, allocations = together(tx, context.settings, context.rng, needed)
    else:
        choice, allocations = pick(needed)
    # After the choice, because that is where most leases are refused.
    if new.makes and (missing := _missing(new, findings)):
        return prepare.Missing(creations=missing)
    lead_time = tx.search.lead_times.longest(set(choice.generations))
    lease = dataclasses.replace(lease, lead_time=lead_time)
    if new.draft.placements:
        lease = placements.shown(tx, lease, allocations)
    timetable = schedule.initial(
        lease,
        new.draft.events,
        prepares=schedule.preparation(map(_PLUGIN, new.requests)),
        now=tx.now,
        settings=context.settings,
    )
    return Chosen(
        lease=dataclasses.replace(
            lease, next_due=events.next_due(timetable), events=tuple(timetable)
        ),
        allocations=allocations,
        limits=new.limits,
        choice=choice,
    )


def write(
    tx: Transaction,
    context: Context,
    chosen: Chosen,
    findings: prepare.Findings = prepare.NOTHING,
) -> Lease:
    """Write a lease that was chosen, in the same or a later transaction.

    :raises climate.booking.choose.LostRace: if the choice is out of date
    """
    lease = chosen.lease
    with inserts.together(tx.session):
        tx.leases.insert(lease)
        tx.reservations.insert(lease.reservations)
        tx.events.insert(lease.events)
        notices.tell(tx, context.plugins, 'lease.create', lease)
        # Last, since others wait for the rows of resources until the commit.
        books = lock(tx, context.settings, chosen.choice)
        if not chosen.held:
            books.insert(chosen.allocations)
    if chosen.held:
        books.give(chosen.held)
    if lease.trust_id is not None:
        tx.trusts.give(lease.trust_id, lease.id)
    if findings.created:
        tx.intents.forget([reservation_id for reservation_id, _ in findings.created])
    return lease


def _missing(new: NewLease, findings: prepare.Findings) -> tuple[prepare.Creation, ...]:
    """Return what the caller has to make first and has not made yet."""
    return tuple(
        prepare.Creation(
            plugin=one.plugin,
            request=one.request,
            reservation_id=reservation_id,
            project_id=new.caller.project_id,
            what=what,
        )
        for reservation_id, one in zip(new.ids, new.requests, strict=True)
        if (what := one.needs.makes) is not None and findings.facts(reservation_id, what) is None
    )


@contextlib.contextmanager
def _trust(context: Context, new: NewLease) -> Iterator[str | None]:
    """Create the caller's trust if effects need one; delete it if the booking fails."""
    wanted = [(one.plugin, one.needs.roles) for one in new.requests if one.needs.roles]
    if not wanted:
        yield None
        return
    with trusts.made(new.caller, wanted, context, new.draft.end) as trust_id:
        yield trust_id


def _things(context: Context, new: NewLease) -> contextlib.AbstractContextManager[None]:
    if not new.things:
        return contextlib.nullcontext()
    return _forgotten_unless_booked(context.store, new.things)


@contextlib.contextmanager
def _forgotten_unless_booked(store: Store, wanted: Collection[tuple[str, str]]) -> Iterator[None]:
    """Remove the resources of things if the booking fails.

    With a filter that waits, the transaction that chose has already committed them.
    """
    try:
        yield
    except BaseException:
        if wanted:
            try:
                store.run(lambda tx: tx.things.forget(wanted))
            except Exception as error:
                # The first error is the one to report.
                log_failure(LOG, error, 'Resources that were not booked stay until the next purge')
        raise


def requirements(new: NewLease, period: Period, padded: Period) -> list[Requirements]:
    """Return what the reservations of a new lease require in a period."""
    return [
        Requirements(
            reservation_id=reservation_id,
            search=one.needs.search,
            plugin=one.plugin,
            request=one.request,
            period=period,
            padded=padded,
            minimum=one.needs.search.minimum,
            maximum=one.needs.search.maximum,
            private=new.caller.all_projects,
            placement=one.placement,
        )
        for reservation_id, one in zip(new.ids, new.requests, strict=True)
    ]


def proposed(
    tx: Transaction, new: NewLease, findings: prepare.Findings, trust_id: str | None
) -> Lease:
    """Return a new lease as it would be, without its events."""
    draft = new.draft
    lease_id = draft.id or str(uuid.uuid4())
    return Lease(
        id=lease_id,
        name=draft.name,
        user_id=new.caller.user_id,
        project_id=new.caller.project_id,
        user_name=new.caller.user_name,
        project_name=new.caller.project_name,
        before_end_date=draft.before_end_date,
        notify_before_start=draft.notify_before_start,
        notices=draft.notices,
        trust_id=trust_id,
        origin=new.caller.origin,
        created_at=tx.now,
        reservations=tuple(
            Reservation(
                id=new.ids[place],
                lease_id=lease_id,
                resource_type=one.plugin.resource_type,
                request=one.needs.stored,
                position=place,
                facts=findings.created.get((new.ids[place], one.needs.makes or ''), {}),
                part_of=None if one.whole is None else new.ids[one.whole],
                placement=one.placement,
                created_at=tx.now,
            )
            for place, one in enumerate(new.requests)
        ),
        period=Period(start=draft.start, end=draft.end),
    )
