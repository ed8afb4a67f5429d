# SPDX-License-Identifier: Apache-2.0

"""New leases as they are requested: what creating one shares with offers of one."""

from __future__ import annotations

import dataclasses
import datetime
import uuid

from climate import exceptions
from climate.booking.requests import prepare
from climate.booking.requests import requests
from climate.booking.requests import yields
from climate.booking.requests.context import Context
from climate.booking.requests.requests import ReservationRequest
from climate.db.transactions.store import Transaction
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.periods import floored
from climate.domain.periods import Period
from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft
from climate.enforcement import limits
from climate.leases import dates


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

    def asked(self, place: int) -> int:
        """Return the place of the requested reservation that the one at *place* is a part of."""
        whole = self.requests[place].whole
        last = place if whole is None else whole
        return sum(one.whole is None for one in self.requests[:last])


def checked(context: Context, caller: Caller, draft: LeaseDraft) -> NewLease:
    """Run the checks of a new lease that need no SQL, including those in the cloud.

    :raises climate.exceptions.InvalidInput: naming the field that is wrong
    :raises climate.exceptions.LeaseRefused: if it has too many reservations
    """
    check_dates(draft, draft.asked_at or context.clock.now())
    allowed = context.settings.limits.of(caller.project_id) if draft.limited else limits.NONE
    limits.check_reservations(allowed, draft.reservations)
    found = requests.read(context, caller, draft)
    things = requests.things(found)
    if draft.preemptible:
        draft = yields.settled(draft, found, context.settings.shortest_slice)
    ids = tuple(str(uuid.uuid4()) for _ in found)
    return NewLease(
        caller=caller,
        draft=draft,
        requests=requests.with_ids(found, ids) if draft.placements else tuple(found),
        ids=ids,
        things=things,
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
        earliest=draft.earliest,
        latest=draft.latest,
        firm_before=_seconds(draft.firm_before),
        wait_until=draft.wait_until,
        priority=draft.priority or None,
        yields=draft.yields,
        min_duration=_seconds(draft.min_duration) if draft.preemptible else None,
        time_left=_seconds(draft.end - draft.start) if draft.preemptible else None,
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


def _seconds(length: datetime.timedelta | None) -> int | None:
    return None if length is None else int(length.total_seconds())
