# SPDX-License-Identifier: Apache-2.0

"""A deployment whose state can be saved and restored."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import random
import sqlite3
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from climate.booking.leases import Leases
from climate.domain.leases import Lease
from climate.domain.requests import LeaseChange
from climate.domain.requests import LeaseDraft
from climate.domain.requests import ReservationChange
from climate.leases.settings import LeasingSettings
from climate.plugins.contract import Plugin
from climate.testing import deployment

# Deadlines are short, so that permanent failures are given up after a few attempts.
SETTINGS = deployment.changed(
    notify_before_start=(),
    notify_before_end=datetime.timedelta(0),
    check_interval=datetime.timedelta(0),
    effect_deadline=datetime.timedelta(seconds=5),
    retry_longest_pause=25.0,
)
NOTHING = datetime.timedelta(0)
CALLER = dataclasses.replace(
    deployment.CALLER, token=f'{deployment.CALLER.user_id}:{deployment.PROJECT}'
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Moment:
    """The saved state of a deployment."""

    store: sqlite3.Connection
    cloud: bytes
    now: datetime.datetime


@dataclasses.dataclass(frozen=True, kw_only=True)
class Picture:
    """What users see of a lease, for comparisons.

    :ivar has: the allocated amount, by reservation and resource class
    """

    status: str
    period: tuple[datetime.datetime, datetime.datetime]
    requests: tuple[Mapping[str, Any], ...]
    has: Mapping[tuple[str, str | None], int]


class RestorableDeployment(deployment.Deployment):
    """A deployment with other resource types, whose state can be saved and restored.

    :param plugins: the types, in addition to ``physical:host``
    :param alone: whether managers process each lease alone instead of in batches
    """

    def __init__(
        self,
        plugins: Iterable[Plugin[Any]] = (),
        cloud_dir: str = ':memory:',
        settings: LeasingSettings = SETTINGS,
        *,
        alone: bool = False,
    ) -> None:
        super().__init__(settings, cloud_dir=cloud_dir, alone=alone)
        self._served = plugins
        self.rng = random.Random()

    def _setUp(self) -> None:
        super()._setUp()
        self.plugins.update({plugin.resource_type: plugin for plugin in self._served})
        self.leases = Leases(
            self.store,
            self.plugins,
            self.clock,
            self.settings,
            lambda: None,
            self.rng,
            cloud_of=lambda who: self.cloud.of_caller(f'{who.user_id}:{who.project_id}'),
            own_cloud=lambda: self.cloud,
        )

    def until(self, seconds: float) -> None:
        """Advance the clock, and process what becomes due; send notifications at the end.

        A walk calls this thousands of times, so it avoids queries that find nothing.
        """
        end = deployment.at(seconds)
        while True:
            with self.store.reading() as tx:
                due = tx.claims.next_due()
            if due is None or due > end:
                break
            now = self.clock.now()
            self.clock.move_to(max(due, now))
            if not self.manager.look() and due <= now:
                # Another manager can take over a claim only after the instant it expires.
                self.clock.move_to(now + datetime.timedelta(milliseconds=1))
        self.notify()
        # The clock may be later already, after a call that hung.
        self.clock.move_to(max(end, self.clock.now()))

    def notify(self) -> None:
        """Send the notifications."""
        self.manager.send()

    # -- state

    def save(self) -> Moment:
        """Return the present state."""
        copy = sqlite3.connect(':memory:', check_same_thread=False)
        self.addCleanup(copy.close)
        with self.store.engine.connect() as connection:
            file: Any = connection.connection.driver_connection
            file.backup(copy)
        return Moment(store=copy, cloud=self.cloud.state(), now=self.clock.now())

    def restore(self, moment: Moment) -> None:
        """Return to a saved state, with a new manager."""
        with self.store.engine.connect() as connection:
            file: Any = connection.connection.driver_connection
            moment.store.backup(file)
        self.cloud.restore(moment.cloud)
        self.clock.move_to(moment.now)
        self.rng.seed(7)
        self.bus.taken.clear()
        self.manager = self.add_manager()

    # -- users

    def draft(
        self,
        requests: Sequence[Mapping[str, Any]],
        start: float,
        end: float,
        before_end: float | None = None,
    ) -> LeaseDraft:
        """Return the draft that :meth:`book` books.

        :param before_end: the time of the warning before the end; None for none
        """
        return LeaseDraft(
            name='walk',
            start=deployment.at(start),
            end=deployment.at(end),
            before_end_date=None if before_end is None else deployment.at(before_end),
            reservations=tuple(dict(request) for request in requests),
            grain=NOTHING,
            asked_at=min(deployment.at(start), self.clock.now()),
        )

    def book(
        self,
        requests: Sequence[Mapping[str, Any]],
        start: float,
        end: float,
        token: str | None = f'alice:{deployment.PROJECT}',
    ) -> Lease:
        """Book a lease with one reservation per request."""
        draft = self.draft(requests, start, end)
        return self.leases.create(dataclasses.replace(CALLER, token=token), draft)

    def change(self, lease: Lease, bodies: Sequence[Mapping[str, Any] | None]) -> None:
        """Change the reservations of a lease, in order; None leaves one unchanged."""
        changes = tuple(
            ReservationChange(id=reservation.id, body=dict(body))
            for reservation, body in zip(lease.reservations, bodies, strict=True)
            if body is not None
        )
        self.leases.update(
            CALLER, lease.id, deployment.PROJECT, LeaseChange(grain=NOTHING, reservations=changes)
        )

    # -- queries

    def picture(self, lease: Lease) -> Picture | None:
        """Return a lease as users see it; None if it was deleted."""
        with contextlib.suppress(LookupError):
            present = self.now(lease)
            has: dict[tuple[str, str | None], int] = {}
            for item in self.allocations(lease):
                key = (item.reservation_id, item.resource_class)
                has[key] = has.get(key, 0) + item.amount
            return Picture(
                status=present.status.value,
                period=(present.period.start, present.period.end),
                requests=tuple(item.request for item in present.reservations),
                has=has,
            )
        return None

    def reasons(self, lease: Lease) -> list[str]:
        """Return the reasons in the error notifications of a lease."""
        return [
            str(message.payload['reason'])
            for message in self.bus.taken
            if message.event_type == 'lease.event.error' and message.payload['lease_id'] == lease.id
        ]
