# SPDX-License-Identifier: Apache-2.0

"""Searches for periods in which all that reservations require is free.

Timelines find the starts at which each reservation is free on its own. The choice of
resources that a booking makes then confirms each of them, since reservations may
compete for the same resources.
"""

from __future__ import annotations

import abc
import dataclasses
import datetime
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Final

from climate import exceptions
from climate.allocation import joint
from climate.allocation import shares
from climate.allocation.joint import Frame
from climate.allocation.joint import SearchBudget
from climate.allocation.joint import Shortfall
from climate.allocation.joint import SlotCondition
from climate.allocation.steps import instant
from climate.allocation.steps import microseconds
from climate.booking.choosing import candidates
from climate.booking.choosing.requirements import Requirements
from climate.booking.requests.context import Context
from climate.db.transactions.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.offers import Offer
from climate.domain.offers import OfferedReservation
from climate.domain.offers import OfferKind
from climate.domain.offers import Shortage
from climate.domain.periods import Period

MOST_SEARCHES: Final = 60
"""How often one request looks for a start in all timelines of a type."""
MOST_CHOICES: Final = 20
"""How often one request chooses resources to confirm a start."""

_FURTHEST: Final = datetime.timedelta(days=400)
_MINUTE: Final = datetime.timedelta(minutes=1)
_MICROSECOND: Final = datetime.timedelta(microseconds=1)


class PeriodSearch(abc.ABC):
    """Searches for periods of one request, in one transaction.

    :param needed: what the reservations require in that period
    :ivar context: with those filters only that need no other service
    :ivar period: the requested one, as far as it lies ahead
    :ivar conditions: the conditions that they set on their own
    :ivar reached: no start before this was overlooked, in microseconds since 1970
    """

    def __init__(
        self,
        tx: Transaction,
        context: Context,
        period: Period,
        needed: Sequence[Requirements],
        conditions: Sequence[SlotCondition],
    ) -> None:
        self.tx = tx
        self.context = dataclasses.replace(context, filters=context.filters.local)
        self.period = period
        self.needed = list(needed)
        self.conditions = list(conditions)
        self._searching = SearchBudget(MOST_SEARCHES, tx.budget)
        self._choices = MOST_CHOICES
        self._refusal: exceptions.NotEnoughResources | None = None
        self.reached = 0

    @abc.abstractmethod
    def _chosen(self, period: Period, needed: Sequence[Requirements]) -> tuple[Allocation, ...]:
        """Choose resources as a booking does, and check what limits and filters allow.

        :raises climate.exceptions.NotEnoughResources: if there are too few
        :raises climate.exceptions.ClimateError: if a limit or a filter forbids the period
        """

    @abc.abstractmethod
    def asked(self, place: int) -> int:
        """Return the place of a reservation as the caller counts them."""

    def frame(self, latest: datetime.datetime, length: datetime.timedelta | None = None) -> Frame:
        """Return the frame of a search from the requested start on.

        :param latest: the last end
        :param length: None for the requested one
        """
        lasts = (self.period.length if length is None else length) // _MICROSECOND
        return Frame(
            length=lasts,
            pause=self.context.settings.cleaning_time // _MICROSECOND,
            earliest=microseconds(self.period.start),
            latest=microseconds(latest) - lasts,
        )

    def next(self, frame: Frame, kind: OfferKind) -> Offer | None:
        """Return the first offer of a frame; None if there is none."""
        start: int | None = frame.earliest
        self._refusal = None
        while start is not None and start <= frame.latest and not self.exhausted:
            self.reached = start
            rest = dataclasses.replace(frame, earliest=start)
            found = self._searching.first(self.conditions, rest)
            if found is None:
                break
            period = Period(start=instant(found), end=instant(found + frame.length))
            chosen = self.choice(period, self.needed)
            if chosen is not None:
                self.reached = found
                short = self._blocked(frame, found)
                return dataclasses.replace(self.offer(period, chosen, kind), blocked_before=short)
            start = joint.after(self.conditions, frame, found)
        if self._searching.left > 0 and not self.exhausted:
            self.reached = max(frame.latest, frame.earliest)
        return None

    def choice(
        self, period: Period, needed: Sequence[Requirements]
    ) -> tuple[Allocation, ...] | None:
        """Choose resources as a booking does; None if there are too few.

        :raises climate.exceptions.ClimateError: if a limit or a filter forbids the period
        """
        if self.exhausted:
            return None
        self._choices -= 1
        try:
            return self._chosen(period, needed)
        except exceptions.NotEnoughResources as error:
            self._refusal = self._refusal or error
            return None
        except exceptions.RequirementsTooSlow:
            # What was found before is the answer.
            return None

    @property
    def refused(self) -> bool:
        """Whether the last search found a start at which a choice found too little."""
        return self._refusal is not None

    @property
    def exhausted(self) -> bool:
        """Whether no more choices are allowed."""
        return self._choices <= 0 or self.late

    @property
    def late(self) -> bool:
        """Whether the request has spent its budget, so that the search should end."""
        return self.tx.budget.spent

    def renew(self, choices: int = MOST_CHOICES) -> None:
        """Allow a number of choices, however many there were before."""
        self._choices = choices

    def offer(self, period: Period, chosen: Sequence[Allocation], kind: OfferKind) -> Offer:
        """Return an offer of chosen resources."""
        reservations = offered(self.needed, chosen, self.asked)
        return Offer(period=period, reservations=reservations, kind=kind)

    def _blocked(self, frame: Frame, start: int) -> tuple[Shortage, ...]:
        """Return what is missing at the first start of a frame, if the offer begins later."""
        if start == frame.earliest:
            return ()
        found = self._searching.shortages(self.conditions, frame, frame.earliest)
        error = self._refusal
        if not found and error is not None:
            # Each reservation is free on its own, but not all of them together.
            place = error.place or 0
            missing = max(self.needed[place].minimum - (error.free or 0), 1)
            found = [Shortfall(place=place, resource_class=None, missing=missing, until=start)]
        return self._shortages(found)

    def blocked(
        self, conditions: Sequence[SlotCondition], end: datetime.datetime
    ) -> tuple[Shortage, ...]:
        """Return what is missing in the minute after *end*."""
        frame = dataclasses.replace(self.frame(end, _MINUTE), earliest=microseconds(end))
        frame = dataclasses.replace(frame, latest=frame.earliest + _FURTHEST // _MICROSECOND)
        found: dict[tuple[int, str | None], Shortfall] = {}
        for one in self._searching.shortages(conditions, frame, frame.earliest):
            known = found.setdefault((one.place, one.resource_class), one)
            if known is not one:
                ends = [until for until in (known.until, one.until) if until is not None]
                found[one.place, one.resource_class] = dataclasses.replace(
                    known,
                    missing=known.missing + one.missing,
                    until=max(ends) if len(ends) == 2 else None,
                )
        return self._shortages(list(found.values()))

    def _shortages(self, found: Sequence[Shortfall]) -> tuple[Shortage, ...]:
        first: dict[tuple[int, str | None], Shortfall] = {}
        for one in found:
            first.setdefault((one.place, one.resource_class), one)
        return tuple(self._shortage(one) for one in first.values())

    def _shortage(self, one: Shortfall) -> Shortage:
        return Shortage(
            place=self.asked(one.place),
            resource_type=self.needed[one.place].search.resource_type,
            resource_class=one.resource_class,
            missing=one.missing,
            until=None if one.until is None else instant(one.until),
        )


def offered(
    needed: Sequence[Requirements], chosen: Sequence[Allocation], asked: Callable[[int], int]
) -> tuple[OfferedReservation, ...]:
    """Return what each reservation would get of chosen resources.

    :param needed: the requirements of the reservations
    :param chosen: the allocations of all of them
    :param asked: returns the place of a reservation as the caller counts them
    """
    return tuple(_offered(needed, chosen, asked))


def _offered(
    needed: Sequence[Requirements], chosen: Sequence[Allocation], asked: Callable[[int], int]
) -> Iterator[OfferedReservation]:
    for position, one in enumerate(needed):
        mine = [item for item in chosen if item.reservation_id == one.reservation_id]
        amount = sum(shares.slots(mine, one.search.demand).values())
        if candidates.is_thing(one):
            amount = one.search.minimum
        if amount:
            yield OfferedReservation(
                place=asked(position),
                resource_type=one.plugin.resource_type,
                amount=amount,
                classes={name: units for name, units in shares.total(mine).items() if name},
            )
