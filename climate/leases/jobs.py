# SPDX-License-Identifier: Apache-2.0

"""One event that a manager works on, and its outcome."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping

from climate import exceptions
from climate.context import WorkContext
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.history import EvictedServer
from climate.domain.leases import Lease
from climate.domain.leases import YieldMode
from climate.plugins.contract import Again
from climate.plugins.contract import Done
from climate.plugins.contract import Outcome
from climate.plugins.contract import Work


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """An event whose effects are to be run now.

    :ivar lease: the lease as it was when the event began
    :ivar works: the work on each reservation, in the order in which to do it
    :ivar first: whether no manager has begun the event at its present time before
    """

    lease: Lease
    event: Event
    works: tuple[Work, ...]
    first: bool = False

    @property
    def subject(self) -> WorkContext:
        """What a thread works on that runs the effects, or settles them."""
        lease, event = self.lease, self.event
        return WorkContext(lease.id, event.id, event.kind.value, lease.origin)

    @property
    def yields(self) -> bool:
        """Whether the lease yields until there is room again, rather than ends."""
        event = self.event
        return event.kind is EventKind.END and not event.forced and bool(self.lease.rest)

    @property
    def vacates(self) -> bool:
        """Whether a preemptible lease gives up its resources as it does to yield."""
        event = self.event
        ends = event.kind is EventKind.END and not event.forced
        return self.yields or (ends and self.lease.yields is YieldMode.END)

    @property
    def started(self) -> bool:
        """Whether the lease ever had its resources."""
        return self.lease.started


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class EffectResult:
    """The result of the effect on one reservation: either an outcome or an error.

    :ivar reservation_id: '' for the deletion of the trust, which all reservations share
    """

    reservation_id: str
    outcome: Outcome | None = None
    error: exceptions.EffectError | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """The outcome of a job: the result for each reservation that was reached."""

    steps: tuple[EffectResult, ...] = ()

    @property
    def again(self) -> datetime.timedelta | None:
        """How long to wait before continuing; None if nothing is under way."""
        waits = [step.outcome.after for step in self.steps if isinstance(step.outcome, Again)]
        return max(waits, default=None)

    @property
    def time_limit(self) -> datetime.timedelta:
        """How long the operations under way may take in total, as far as they say."""
        waits = [step.outcome.time_limit for step in self.steps if isinstance(step.outcome, Again)]
        return max(waits, default=datetime.timedelta(0))

    def overdue(self, event: Event, deadline: datetime.timedelta) -> bool:
        """Whether the operations under way have taken too long."""
        return self.again is not None and event.tried >= max(deadline, self.time_limit)

    def with_progress(self, event: Event) -> Event:
        """Return *event*, with the note that its operation is progressing.

        An effect that does not say how long it may take notes nothing.
        """
        return event.progressing() if self.time_limit > datetime.timedelta(0) else event

    @property
    def why(self) -> str:
        """What the job waits for, for users."""
        return '; '.join(
            step.outcome.why
            for step in self.steps
            if isinstance(step.outcome, Again) and step.outcome.why
        )

    @property
    def error(self) -> exceptions.EffectError | None:
        """The worst failure: a permanent one if there is one."""
        errors = [step.error for step in self.steps if step.error is not None]
        return min(
            errors, key=lambda error: not isinstance(error, exceptions.Permanent), default=None
        )

    @property
    def trust_deleted(self) -> bool:
        """Whether the lease has no trust any more."""
        return any(not step.reservation_id and step.error is None for step in self.steps)

    @property
    def repaired(self) -> tuple[str, ...]:
        """What had to be repaired."""
        lines: list[str] = []
        for step in self.steps:
            lines += getattr(step.outcome, 'repaired', ())
        return tuple(lines)

    @property
    def evicts(self) -> tuple[EvictedServer, ...]:
        """The servers of other projects that the start will delete."""
        done = (step.outcome for step in self.steps if isinstance(step.outcome, Done))
        return tuple(server for outcome in done for server in outcome.evicts)

    @property
    def kept_slots(self) -> dict[str, Mapping[int, int]]:
        """The slots that reservations keep, where an effect chose them itself."""
        return {
            step.reservation_id: step.outcome.kept
            for step in self.steps
            if isinstance(step.outcome, Done) and step.outcome.kept is not None
        }
