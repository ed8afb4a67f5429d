# SPDX-License-Identifier: Apache-2.0

"""Writes leases as JSON.

Objects that a library then encodes would take five times as long, which shows in long lists.
"""

from __future__ import annotations

import datetime
import functools
import json
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.api.http import dates
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_1
from climate.api.http.microversions import V1_8
from climate.api.views import fields
from climate.api.views import holdings
from climate.api.views import leases
from climate.api.views import placements
from climate.domain.events import PUBLIC_AT_1_0
from climate.domain.events import PUBLIC_AT_1_1
from climate.domain.holdings import Holding
from climate.domain.leases import OPTIONS
from climate.domain.leases import Readiness
from climate.domain.leases import Reservation
from climate.domain.lifecycles import LeaseStatus
from climate.domain.listed import instant
from climate.domain.listed import ListedEvent
from climate.domain.listed import ListedLease
from climate.domain.listed import ListedReservation
from climate.leases import reading
from climate.leases.reading import Describer

_KNOWN: Final = 8192
_KNOWN_CHOICES: Final = 64
_OPTIONS: Final = [name for name in OPTIONS if name not in ListedLease._fields]
_NO_OPTIONS: Final = [None] * len(_OPTIONS)
_RESERVATION: Final = ('lease_id', *ListedReservation._fields, 'whole')
_COMMON: Final = frozenset(
    field.name
    for field in leases.RESERVATION + leases.HELD
    # Types without a placement may have a field with its name, and older microversions have
    # resources.
    if field.name not in ('placement', 'resources')
)
_WRITTEN_STATUSES: Final = {one.value: json.dumps(one.value) for one in LeaseStatus}
_STATUSES: Final = _WRITTEN_STATUSES.__getitem__
# Clients of earlier versions do not know the status of a lease without a booking.
_STATUSES_BEFORE_1_8: Final = {
    **_WRITTEN_STATUSES,
    LeaseStatus.WAITING.value: json.dumps(LeaseStatus.PENDING.value),
}.__getitem__
_Written = Callable[[str | None], str]
_Row = Callable[..., str]
_Array = Callable[..., list[str]]


class LeaseWriter:
    """Writes leases at one microversion.

    :ivar date: writes an instant of a lease or an event
    :ivar record: writes an instant at which something was created or changed
    :ivar public: the kinds of events that users can see
    :param describers: describe reservations, by resource type
    :param named: whether the caller may see the resources that reservations hold
    """

    quoted = staticmethod(json.encoder.encode_basestring_ascii)
    json = staticmethod(json.dumps)
    options = _OPTIONS
    no_options = _NO_OPTIONS

    def __init__(
        self, describers: Mapping[str, Describer], version: Microversion, *, named: bool = True
    ) -> None:
        self.date, self.record = _dates(version)
        self.status = _STATUSES if version >= V1_8 else _STATUSES_BEFORE_1_8
        self._describers = describers
        self._version = version
        self._named = named
        self._leases, self._events = _lease_array(version), _event_array(version)
        self._plain_reservations = _reservation_array(version)
        self.public: Collection[str] = PUBLIC_AT_1_1 if version >= V1_1 else PUBLIC_AT_1_0
        # Most reservations of a list have one of a few requests.
        self.own: dict[tuple[str, str], str] = {}

    def array(self, values: Iterable[ListedLease]) -> str:
        """Return leases as a JSON array."""
        return f'[{", ".join(self._leases(self, values))}]'

    def object(self, value: ListedLease) -> str:
        """Return a lease as a JSON object."""
        (text,) = self._leases(self, [value])
        return text

    def selected(self, values: Iterable[ListedLease], names: Collection[str]) -> str:
        """Return some fields of leases as a JSON array of objects.

        :param names: of fields of the microversion
        """
        return f'[{", ".join(_chosen_array(frozenset(names))(self, values))}]'

    def stored_date(self, value: datetime.datetime | str) -> str:
        """Return an instant of the options of a lease."""
        return json.dumps(dates.write(_stored(value), self._version))

    def firm_at(self, lease: ListedLease) -> str:
        """Return when a lease stops moving; null if it has a fixed start."""
        before = lease.options.get('firm_before')
        start = instant(lease.start)
        if before is None or start is None:
            return 'null'
        return json.dumps(dates.write(start - datetime.timedelta(seconds=before), self._version))

    def events(self, lease: ListedLease) -> str:
        """Return the events of a lease that users can see."""
        return f'[{", ".join(self._events(self, lease.id, lease.events))}]'

    def readiness(self, value: Readiness) -> str:
        """Return the last report on the resources of a lease."""
        return json.dumps(
            {
                'ready': list(value.ready),
                'waiting': list(value.waiting),
                'by': value.by,
                'detail': value.detail,
                'said_at': dates.write(value.at, self._version),
            }
        )

    def reservations(self, lease: ListedLease) -> str:
        """Return the reservations of a lease."""
        try:
            texts = self._plain_reservations(self, lease.id, lease.reservations)
        except KeyError:
            texts = []
        if len(texts) < len(lease.reservations):
            # One of them has a placement or more to show, or a request that was not met yet.
            texts = [self._reservation(one, lease.id) for one in lease.reservations]
        return f'[{", ".join(texts)}]'

    def placement(self, reservation: Reservation) -> str:
        """Return the placement of a reservation that has one."""
        describer = self._describers.get(reservation.resource_type)
        assert reservation.placement is not None
        return json.dumps(placements.placement(reservation.placement, reservation, describer))

    def resources(self, value: Holding) -> str:
        """Return the resources that a reservation holds."""
        return json.dumps(holdings.resources(value, named=self._named))

    def resources_count(self, value: Holding) -> str:
        """Return the number of resources that a reservation holds."""
        return str(value.number)

    def instructions(self, reservation: Reservation) -> str:
        """Return what a person does with a reservation."""
        describer = self._describers.get(reservation.resource_type)
        return json.dumps(holdings.instructions(reservation, describer, named=self._named))

    def _reservation(self, value: ListedReservation, lease_id: str) -> str:
        shown = {'placed': value.placement is not None, 'held': value.holding is not None}
        row = _reservation_row(self._version, **shown)
        text = row(self, lease_id, *value, value.whole(lease_id) if any(shown.values()) else None)
        own = self.own.get((value.resource_type, value.request))
        if own is None and (own := self._own_text(value, lease_id)) is None:
            return json.dumps({**self._own_fields(value, lease_id), **json.loads(text)})
        return f'{{{own}{text[1:]}'

    def _own_fields(self, value: ListedReservation, lease_id: str) -> dict[str, Any]:
        """Return the fields that only the type has.

        There are none if the type is no longer served. If the plugin cannot read the
        reservation, there is ``fault`` alone.
        """
        describer = self._describers.get(value.resource_type)
        if describer is None:
            return {}
        return holdings.own(describer, value.whole(lease_id), self._version)

    def _own_text(self, value: ListedReservation, lease_id: str) -> str | None:
        """Return them as JSON, each with a comma behind it.

        :returns: None if one has the name of a field of every reservation, which replaces it
        """
        own = self._own_fields(value, lease_id)
        text = json.dumps(own)[1:-1] + ', ' if own else ''
        if not own.keys().isdisjoint(_COMMON):
            return None
        describer = self._describers.get(value.resource_type)
        if describer is None or (describer.describes_request and reading.FAULT not in own):
            self.own[value.resource_type, value.request] = text
        return text


def _stored(value: datetime.datetime | str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(value) if isinstance(value, str) else value


@functools.cache
def _lease_array(version: Microversion) -> _Array:
    return _array_of_leases(fields.at(leases.LEASE, version))


@functools.lru_cache(_KNOWN_CHOICES)
def _chosen_array(names: Collection[str]) -> _Array:
    return _array_of_leases(field for field in leases.LEASE if field.name in names)


def _array_of_leases(chosen: Iterable[fields.AnswerField]) -> _Array:
    loops = (
        ('lease', 'values'),
        (', '.join(ListedLease._fields), '[lease]'),
        (', '.join(_OPTIONS), '[map(options.get, to.options) if options else to.no_options]'),
    )
    return fields.array(chosen, 'values', loops)


@functools.cache
def _event_array(version: Microversion) -> _Array:
    loops = ((', '.join(ListedEvent._fields), 'values'),)
    table = fields.at(leases.EVENT, version)
    return fields.array(table, 'lease_id, values', loops, where='kind in to.public')


@functools.cache
def _reservation_array(version: Microversion) -> _Array:
    """Return the writer of reservations with neither a placement nor what they hold."""
    return fields.array(
        [one for one in fields.at(leases.RESERVATION, version) if not one.optional],
        'lease_id, values',
        ((', '.join(ListedReservation._fields), 'values'),),
        where='placement is None and holding is None',
        first='{to.own[resource_type, request]}',
    )


@functools.cache
def _reservation_row(version: Microversion, *, placed: bool, held: bool) -> _Row:
    """Return the row of reservations that are shown with a placement, or with what they hold."""
    table = fields.at(leases.RESERVATION + leases.HELD * held, version)
    return fields.row([one for one in table if placed or not one.optional], _RESERVATION)


@functools.cache
def _dates(version: Microversion) -> tuple[_Written, _Written]:
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
