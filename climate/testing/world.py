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

"""A deployment that can go back to what it was at an earlier moment."""

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
    """What a world was at an instant."""

    store: sqlite3.Connection
    cloud: bytes
    now: datetime.datetime


@dataclasses.dataclass(frozen=True, kw_only=True)
class Picture:
    """What users see of a lease, to be compared.

    :ivar has: by reservation, resource class and state, how much it has
    """

    status: str
    period: tuple[datetime.datetime, datetime.datetime]
    requests: tuple[Mapping[str, Any], ...]
    has: Mapping[tuple[str, str | None], int]


class World(deployment.Deployment):
    """Resource types on a simulated cloud; remembers and goes back.

    :param plugins: the types, in addition to ``physical:host``
    """

    def __init__(
        self,
        plugins: Iterable[Plugin[Any]] = (),
        cloud_dir: str = ':memory:',
        settings: LeasingSettings = SETTINGS,
    ) -> None:
        super().__init__(settings, cloud_dir=cloud_dir)
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
        """Let time pass, and do what comes due; send notifications only at the end.

        A walk passes here thousands of times: nothing is looked for that cannot be there.
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
                # A claim that runs out can be taken over the instant after.
                self.clock.move_to(now + datetime.timedelta(milliseconds=1))
        self.tell()
        # Within a call that hangs, more time can pass.
        self.clock.move_to(max(end, self.clock.now()))

    def tell(self) -> None:
        """Send the notifications."""
        self.manager.send()

    # -- going back

    def save(self) -> Moment:
        """Return what everything is now."""
        copy = sqlite3.connect(':memory:', check_same_thread=False)
        self.addCleanup(copy.close)
        with self.store.engine.connect() as connection:
            file: Any = connection.connection.driver_connection
            file.backup(copy)
        return Moment(store=copy, cloud=self.cloud.state(), now=self.clock.now())

    def restore(self, moment: Moment) -> None:
        """Let everything be as it was."""
        with self.store.engine.connect() as connection:
            file: Any = connection.connection.driver_connection
            moment.store.backup(file)
        self.cloud.restore(moment.cloud)
        self.clock.move_to(moment.now)
        self.rng.seed(7)
        self.bus.taken.clear()
        self.manager = self.hire()

    # -- users

    def draft(
        self,
        requests: Sequence[Mapping[str, Any]],
        start: float,
        end: float,
        before_end: float | None = None,
    ) -> LeaseDraft:
        """Return what is booked by :meth:`book`, perhaps with a warning at some time."""
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
        """Book what *requests* say, a reservation each."""
        draft = self.draft(requests, start, end)
        return self.leases.create(dataclasses.replace(CALLER, token=token), draft)

    def change(self, lease: Lease, bodies: Sequence[Mapping[str, Any] | None]) -> None:
        """Change the reservations of a lease, in their order; None leaves one."""
        changes = tuple(
            ReservationChange(id=reservation.id, body=dict(body))
            for reservation, body in zip(lease.reservations, bodies, strict=True)
            if body is not None
        )
        self.leases.update(
            CALLER,
            lease.id,
            deployment.PROJECT,
            LeaseChange(grain=NOTHING, reservations=changes),
        )

    # -- what there is

    def picture(self, lease: Lease) -> Picture | None:
        """Return a lease as users see it; None if it was deleted."""
        with contextlib.suppress(LookupError):
            found = self.now(lease)
            has: dict[tuple[str, str | None], int] = {}
            for item in self.allocations(lease):
                key = (item.reservation_id, item.resource_class)
                has[key] = has.get(key, 0) + item.amount
            return Picture(
                status=found.status.value,
                period=(found.period.start, found.period.end),
                requests=tuple(item.request for item in found.reservations),
                has=has,
            )
        return None

    def reasons(self, lease: Lease) -> list[str]:
        """Return the reasons of failures that the owner of a lease was sent."""
        return [
            str(message.payload['reason'])
            for message in self.bus.taken
            if message.payload['lease_id'] == lease.id and message.event_type == 'lease.event.error'
        ]
