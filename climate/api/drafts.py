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

"""From the body of a request to what the leasing core is asked for."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from climate import exceptions
from climate.api import bodies
from climate.api import dates
from climate.api.microversions import Microversion
from climate.api.microversions import V1_1
from climate.api.microversions import V1_3
from climate.api.schemas import leases as schemas
from climate.domain.events import EventKind
from climate.domain.leases import NOTICES
from climate.domain.requests import EventDraft
from climate.domain.requests import LeaseChange
from climate.domain.requests import LeaseDraft
from climate.domain.requests import ReservationChange
from climate.domain.requests import UNSET
from climate.domain.requests import Unset


class Reader:
    """Reads one body at one instant and one microversion.

    :param now: what ``now`` means in this request (aware UTC)
    """

    def __init__(self, body: dict[str, Any], version: Microversion, now: datetime.datetime) -> None:
        self._body = body
        self._version = version
        self._now = now

    @property
    def _modern(self) -> bool:
        return self._version >= V1_1

    def draft(self, max_reservations: int = 20) -> LeaseDraft:
        """Return the lease somebody wants.

        :param max_reservations: how many it may have
        :raises climate.exceptions.InvalidInput: naming the field and why
        """
        body = self._body
        schemas.check('create', self._version, body)
        if len(body.get('reservations') or ()) > max_reservations:
            raise exceptions.MalformedParameter(
                f'Malformed parameter reservations: at most {max_reservations} items are allowed'
            )
        start = self._time('start_date', body['start_date'])
        end = self._end(lambda: start)
        if end is None:
            raise exceptions.MissingParameter(param='end_date')
        events, before_end_date = self._events()
        announced, notices = self._announcements(), self._notices()
        return LeaseDraft(
            name=bodies.name('name', body['name']),
            start=start,
            end=end,
            reservations=tuple(body.get('reservations') or ()),
            events=events,
            before_end_date=self._optional_time('before_end_date') or before_end_date,
            notify_before_start=None if announced is UNSET else announced,
            notices=None if notices is UNSET else notices,
            strict=self._modern,
            grain=dates.grain(self._version),
            asked_at=self._now,
        )

    def change(self, current_start: Callable[[], datetime.datetime]) -> LeaseChange:
        """Return what is to change of a lease.

        :param current_start: tells when the lease starts at present; asked
            only if the new end follows from it
        :raises climate.exceptions.InvalidInput: naming the field and why
        """
        body = self._body
        schemas.check('update', self._version, body)
        start = self._optional_time('start_date')
        return LeaseChange(
            name=None if body.get('name') is None else bodies.name('name', body['name']),
            start=start,
            end=self._end(lambda: start or current_start()),
            before_end_date=self._before_end_date(),
            notify_before_start=self._announcements(),
            notices=self._notices(),
            reservations=tuple(
                ReservationChange(id=change['id'], body=change)
                for change in body.get('reservations') or ()
            ),
            strict=self._modern,
            grain=dates.grain(self._version),
            asked_at=self._now,
        )

    def _time(self, field: str, value: Any) -> datetime.datetime:
        return dates.parse(field, value, self._now, self._version)

    def _optional_time(self, field: str) -> datetime.datetime | None:
        value = self._body.get(field)
        return None if value is None else self._time(field, value)

    def _before_end_date(self) -> datetime.datetime | Unset | None:
        if 'before_end_date' not in self._body:
            return UNSET
        return self._optional_time('before_end_date')

    def _end(self, start: Callable[[], datetime.datetime]) -> datetime.datetime | None:
        end = self._optional_time('end_date')
        duration = self._body.get('duration') if self._modern else None
        if duration is None:
            return end
        if end is not None:
            raise exceptions.InvalidInput(
                'Malformed parameter duration: end_date and duration exclude each other'
            )
        return dates.add('duration', start(), dates.parse_duration('duration', duration))

    def _announcements(self) -> tuple[int, ...] | Unset | None:
        if not self._modern or 'notify_before_start' not in self._body:
            return UNSET
        wanted = self._body['notify_before_start']
        return None if wanted is None else tuple(sorted(set(wanted), reverse=True))

    def _notices(self) -> tuple[str, ...] | Unset | None:
        if self._version < V1_3 or 'notices' not in self._body:
            return UNSET
        wanted = self._body['notices']
        return None if wanted is None else tuple(name for name in NOTICES if name in wanted)

    def _events(self) -> tuple[tuple[EventDraft, ...], datetime.datetime | None]:
        """Return the user's own events, and when to tell of the end, if said there."""
        drafts = []
        before_end_date = None
        for i, event in enumerate(self._body.get('events') or ()):
            time = self._event_time(f'events[{i}]', event)
            # Old clients say before_end_date as an event of the service.
            if event['event_type'] == EventKind.BEFORE_END:
                before_end_date = time
            else:
                drafts.append(EventDraft(kind=EventKind.NOTIFICATION, time=time))
        return tuple(drafts), before_end_date

    def _event_time(self, field: str, event: dict[str, Any]) -> datetime.datetime:
        # Heat says time, the command line says event_date.
        for key in ('time', 'event_date'):
            if event.get(key) is not None:
                return self._time(f'{field}.{key}', event[key])
        raise exceptions.MissingParameter(param=f'{field}.time')
