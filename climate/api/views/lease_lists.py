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

"""Leases as JSON text.

The text is the same as if :func:`climate.api.views.leases.lease` had made an object of each
lease, but is made in a fifth of the time, which long lists are spent on.
"""

from __future__ import annotations

import datetime
import functools
import json
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from json.encoder import encode_basestring_ascii as _quoted
from typing import Final

from climate.api import dates
from climate.api.microversions import Microversion
from climate.api.microversions import V1_1
from climate.api.microversions import V1_3
from climate.api.microversions import V1_4
from climate.api.views import leases
from climate.api.views import placements
from climate.domain.events import PUBLIC_AT_1_0
from climate.domain.events import PUBLIC_AT_1_1
from climate.domain.listed import ListedLease
from climate.domain.listed import ListedReservation
from climate.leases import reading
from climate.leases.reading import Describer

_KNOWN: Final = 8192
_BOOLEANS: Final = {True: 'true', False: 'false'}


class LeaseWriter:
    """Writes leases at one microversion.

    :param describers: describe reservations, by resource type
    """

    def __init__(self, describers: Mapping[str, Describer], version: Microversion) -> None:
        self._describers = describers
        self._version = version
        self._date, self._record = _dates(version)
        self._public: Collection[str] = PUBLIC_AT_1_1 if version >= V1_1 else PUBLIC_AT_1_0
        # Most reservations of a list have one of a few requests.
        self._own: dict[tuple[str, str], str | None] = {}

    def array(self, values: Iterable[ListedLease]) -> str:
        """Return leases as a JSON array."""
        return f'[{", ".join(map(self.object, values))}]'

    def object(self, value: ListedLease) -> str:
        """Return a lease as a JSON object."""
        lease_id = _quoted(value.id)
        text = (
            f'{{"id": {lease_id}, "name": {_quoted(value.name)},'
            f' "user_id": {_quoted(value.user_id)}, "project_id": {_quoted(value.project_id)},'
            f' "start_date": {self._date(value.start)}, "end_date": {self._date(value.end)},'
            # Clients read the key; its value is internal.
            f' "trust_id": null, "status": {_quoted(value.status)},'
            f' "degraded": {_BOOLEANS[value.degraded]},'
            f' "created_at": {self._record(value.created_at)},'
            f' "updated_at": {self._record(value.updated_at)}, "reservations": ['
            f'{", ".join([self._reservation(one, value.id) for one in value.reservations])}],'
            f' "events": [{self._events(value, lease_id)}]'
        )
        if self._version >= V1_1:
            notices = json.dumps(value.options.get('notify_before_start'))
            text += (
                f', "before_end_date": {self._date(value.before_end_date)},'
                f' "notify_before_start": {notices}'
            )
        if self._version >= V1_3:
            readiness = json.dumps(leases.readiness(value.readiness, self._version))
            notices = json.dumps(value.options.get('notices'))
            text += f', "notices": {notices}, "readiness": {readiness}'
        return text + '}'

    def _events(self, value: ListedLease, lease_id: str) -> str:
        date, record = self._date, self._record
        return ', '.join(
            [
                f'{{"id": {_quoted(event_id)}, "lease_id": {lease_id}, "event_type": "{kind}",'
                f' "time": {date(time)}, "status": {_quoted(state)},'
                f' "created_at": {record(created_at)}, "updated_at": {record(updated_at)}}}'
                for event_id, kind, state, time, created_at, updated_at in value.events
                if kind in self._public
            ]
        )

    def _reservation(self, value: ListedReservation, lease_id: str) -> str:
        own = self._described(value, lease_id)
        if own is None:
            describer = self._describers.get(value.resource_type)
            return json.dumps(leases.reservation(value.whole(lease_id), describer, self._version))
        reservation_id = _quoted(value.id)
        text = (
            f'{{{own}"id": {reservation_id}, "lease_id": {_quoted(lease_id)},'
            # Clients expect the id of the record of the type, which is this one.
            f' "resource_id": {reservation_id},'
            f' "resource_type": {_quoted(value.resource_type)},'
            f' "status": {_quoted(value.status)},'
            f' "missing_resources": {_BOOLEANS[value.missing_resources]},'
            f' "resources_changed": {_BOOLEANS[value.resources_changed]},'
            f' "created_at": {self._record(value.created_at)},'
            f' "updated_at": {self._record(value.updated_at)}'
        )
        if self._version >= V1_3:
            text += f', "part_of": {json.dumps(value.part_of)}'
        if self._version >= V1_4 and value.placement is not None:
            describer = self._describers.get(value.resource_type)
            placement = placements.placement(value.placement, value.whole(lease_id), describer)
            text += f', "placement": {json.dumps(placement)}'
        return text + '}'

    def _described(self, value: ListedReservation, lease_id: str) -> str | None:
        """Return the keys of the type, each with a comma behind it.

        :returns: None if they depend on more than the request
        """
        key = (value.resource_type, value.request)
        if key not in self._own:
            self._own[key] = self._description(value, lease_id)
        return self._own[key]

    def _description(self, value: ListedReservation, lease_id: str) -> str | None:
        describer = self._describers.get(value.resource_type)
        if describer is None:
            return ''
        if not describer.describes_request:
            return None
        own = reading.describe(describer, value.whole(lease_id))
        if reading.FAULT in own or not own.keys().isdisjoint(leases.RESERVATION_KEYS):
            return None
        return json.dumps(own)[1:-1] + ', ' if own else ''


Written = Callable[[datetime.datetime | None], str]


@functools.cache
def _dates(version: Microversion) -> tuple[Written, Written]:
    """Return the functions that write the dates of leases and of records as JSON.

    Each remembers what it has written: the lists of a minute have the same leases.
    """

    @functools.lru_cache(_KNOWN)
    def date(instant: datetime.datetime | None) -> str:
        return json.dumps(dates.write(instant, version))

    @functools.lru_cache(_KNOWN)
    def record(instant: datetime.datetime | None) -> str:
        return json.dumps(dates.write_record(instant, version))

    return date, record
