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

import functools
import json
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any
from typing import Final

from climate.api import dates
from climate.api.microversions import Microversion
from climate.api.microversions import V1_1
from climate.api.microversions import V1_3
from climate.api.microversions import V1_4
from climate.api.microversions import V1_5
from climate.api.microversions import V1_7
from climate.api.views import holdings
from climate.api.views import leases
from climate.api.views import placements
from climate.domain.events import PUBLIC_AT_1_0
from climate.domain.events import PUBLIC_AT_1_1
from climate.domain.leases import Readiness
from climate.domain.listed import instant
from climate.domain.listed import ListedEvent
from climate.domain.listed import ListedLease
from climate.domain.listed import ListedReservation
from climate.leases import reading
from climate.leases.reading import Describer

FIELDS: Final = (
    'id',
    'name',
    'user_id',
    'project_id',
    'start_date',
    'end_date',
    'trust_id',
    'status',
    'degraded',
    'created_at',
    'updated_at',
    'reservations',
    'events',
    'before_end_date',
    'notify_before_start',
    'notices',
    'readiness',
    'end_reason',
)
"""The keys of a lease from microversion 1.5 on, in order."""
_SINCE_1_7: Final = ('user_name', 'project_name')

_FIELDS: Final = (*FIELDS, *_SINCE_1_7)
_KNOWN: Final = 8192
_TEXTS: Final = frozenset({'id', 'name', 'user_id', 'project_id', 'status'})
_DATES: Final = {'start_date': 'start', 'end_date': 'end', 'before_end_date': 'before_end_date'}
_RECORDS: Final = frozenset({'created_at', 'updated_at'})
_OPTIONS: Final = frozenset({'notify_before_start', 'notices', 'end_reason', *_SINCE_1_7})
# Some engines have 0 and 1 instead, which are the same keys.
_BOOLEANS: Final[dict[int, str]] = {True: 'true', False: 'false'}


def fields(version: Microversion) -> tuple[str, ...]:
    """Return the keys of a lease at a microversion, in order."""
    return (*FIELDS, *_SINCE_1_7) if version >= V1_7 else FIELDS


class LeaseWriter:
    """Writes leases at one microversion.

    :param describers: describe reservations, by resource type
    :param named: whether the caller may see the resources that reservations hold
    """

    def __init__(
        self, describers: Mapping[str, Describer], version: Microversion, *, named: bool = True
    ) -> None:
        self._describers = describers
        self._version = version
        self._named = named
        self._date, self._record = _dates(version)
        self._public: Collection[str] = PUBLIC_AT_1_1 if version >= V1_1 else PUBLIC_AT_1_0
        # Most reservations of a list have one of a few requests.
        self._own: dict[tuple[str, str], str | None] = {}

    def array(self, values: Iterable[ListedLease]) -> str:
        """Return leases as a JSON array."""
        return f'[{", ".join(map(self.object, values))}]'

    def object(self, value: ListedLease) -> str:
        """Return a lease as a JSON object."""
        # All fields at once: it takes longer to look one up than to unpack them.
        (lease_id, name, user_id, project_id, start, end, status, degraded) = value[:8]
        (before_end_date, created_at, updated_at, options, readiness, events, parts) = value[8:]
        # Ids and states are not quoted by a call: they have no characters to escape.
        date, record, quoted_id = self._date, self._record, f'"{lease_id}"'
        own = ', '.join([self._reservation(one, lease_id, quoted_id) for one in parts])
        text = (
            f'{{"id": {quoted_id}, "name": {_quoted(name)}, "user_id": {_quoted(user_id)},'
            f' "project_id": {_quoted(project_id)}, "start_date": {date(start)},'
            # Clients read the key of the trust; its value is internal.
            f' "end_date": {date(end)}, "trust_id": null, "status": "{status}",'
            f' "degraded": {_BOOLEANS[degraded]}, "created_at": {record(created_at)},'
            f' "updated_at": {record(updated_at)}, "reservations": [{own}],'
            f' "events": [{self._events(events, quoted_id)}]'
        )
        if self._version >= V1_1:
            text += (
                f', "before_end_date": {date(before_end_date)},'
                f' "notify_before_start": {_option(options, "notify_before_start")}'
            )
        if self._version >= V1_3:
            text += f', "notices": {_option(options, "notices")}'
            text += f', "readiness": {self._readiness(readiness)}'
        if self._version >= V1_5:
            text += f', "end_reason": {_option(options, "end_reason")}'
        if self._version >= V1_7:
            for key in _SINCE_1_7:
                text += f', "{key}": {_option(options, key)}'
        return text + '}'

    def selected(self, values: Iterable[ListedLease], fields: Collection[str]) -> str:
        """Return some fields of leases as a JSON array of objects.

        :param fields: some of those of the microversion
        """
        names = [name for name in _FIELDS if name in fields]
        rows = (
            ', '.join([f'"{name}": {self._field(name, value)}' for name in names])
            for value in values
        )
        return f'[{", ".join([f"{{{row}}}" for row in rows])}]'

    def _field(self, name: str, value: ListedLease) -> str:
        if name in _TEXTS:
            return _quoted(getattr(value, name))
        if name in _DATES:
            return self._date(getattr(value, _DATES[name]))
        if name in _RECORDS:
            return self._record(getattr(value, name))
        if name in _OPTIONS:
            return _option(value.options, name)
        if name == 'degraded':
            return _BOOLEANS[value.degraded]
        return self._nested(name, value)

    def _nested(self, name: str, value: ListedLease) -> str:
        quoted_id = f'"{value.id}"'
        if name == 'readiness':
            return self._readiness(value.readiness)
        if name == 'events':
            return f'[{self._events(value.events, quoted_id)}]'
        if name == 'reservations':
            parts = [self._reservation(one, value.id, quoted_id) for one in value.reservations]
            return f'[{", ".join(parts)}]'
        # The key of the trust; its value is internal.
        return 'null'

    def _events(self, values: Sequence[ListedEvent], lease_id: str) -> str:
        date, record, public = self._date, self._record, self._public
        return ', '.join(
            [
                f'{{"id": "{event_id}", "lease_id": {lease_id}, "event_type": "{kind}",'
                f' "time": {date(time)}, "status": "{state}",'
                f' "created_at": {record(created_at)}, "updated_at": {record(updated_at)}}}'
                for event_id, kind, state, time, created_at, updated_at, _ in values
                if kind in public
            ]
        )

    def _readiness(self, value: Readiness | None) -> str:
        return 'null' if value is None else json.dumps(leases.readiness(value, self._version))

    def _reservation(self, value: ListedReservation, lease_id: str, quoted_lease_id: str) -> str:
        (reservation_id, resource_type, status, request, _, _, missing, changed) = value[:8]
        (part_of, created_at, updated_at, placement, _, holding) = value[8:]
        key = (resource_type, request)
        if key in self._own:
            own = self._own[key]
        else:
            own = self._own[key] = self._description(value, lease_id)
        if own is None:
            describer, one = self._describers.get(resource_type), value.whole(lease_id)
            shown = leases.reservation(one, describer, self._version, named=self._named)
            return json.dumps(shown)
        quoted_id, record = f'"{reservation_id}"', self._record
        text = (
            # Clients expect the id of the record of the type, which is this one.
            f'{{{own}"id": {quoted_id}, "lease_id": {quoted_lease_id}, "resource_id": {quoted_id},'
            f' "resource_type": {_quoted(resource_type)}, "status": "{status}",'
            f' "missing_resources": {_BOOLEANS[missing]},'
            f' "resources_changed": {_BOOLEANS[changed]},'
            f' "created_at": {record(created_at)}, "updated_at": {record(updated_at)}'
        )
        if self._version >= V1_3:
            whole = 'null' if part_of is None else _quoted(part_of)
            text += f', "part_of": {whole}'
        if self._version >= V1_4 and placement is not None:
            describer = self._describers.get(resource_type)
            shown = placements.placement(placement, value.whole(lease_id), describer)
            text += f', "placement": {json.dumps(shown)}'
        if self._version >= V1_7 and holding is not None:
            describer = self._describers.get(resource_type)
            held = holdings.holding(value.whole(lease_id), describer, named=self._named)
            text += f', {json.dumps(held)[1:-1]}'
        return text + '}'

    def _description(self, value: ListedReservation, lease_id: str) -> str | None:
        """Return the keys of the type, each with a comma behind it.

        :returns: None if they depend on more than the request
        """
        describer = self._describers.get(value.resource_type)
        if describer is None:
            return ''
        if not describer.describes_request:
            return None
        own = holdings.own(describer, value.whole(lease_id), self._version)
        if reading.FAULT in own or not own.keys().isdisjoint(leases.RESERVATION_KEYS):
            return None
        return json.dumps(own)[1:-1] + ', ' if own else ''


def _option(options: Mapping[str, Any], name: str) -> str:
    return json.dumps(options.get(name)) if options else 'null'


Written = Callable[[str | None], str]


@functools.cache
def _dates(version: Microversion) -> tuple[Written, Written]:
    """Return the functions that write the dates of leases and of records as JSON.

    Each remembers what it has written: the lists of a minute have the same leases.
    """

    @functools.lru_cache(_KNOWN)
    def date(text: str | None) -> str:
        return json.dumps(dates.write(instant(text), version))

    @functools.lru_cache(_KNOWN)
    def record(text: str | None) -> str:
        return json.dumps(dates.write_record(instant(text), version))

    return date, record
