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

"""How tables show times and reservations; JSON and YAML show them as the API does."""

from __future__ import annotations

from typing import Any

from cliff import columns

from climate.client import times


class TimeColumn(columns.FormattableColumn[str | None]):
    """An instant, in the zone of the user."""

    def human_readable(self) -> str:
        """Return the instant with its zone."""
        return times.write(self._value)


class DurationsColumn(columns.FormattableColumn[list[int] | None]):
    """Durations in seconds, in one line; None for the default of the operator."""

    def human_readable(self) -> str:
        """Return them with units and commas."""
        if self._value is None:
            return 'default'
        return ', '.join(map(times.write_duration, self._value)) or 'none'


class NamesColumn(columns.FormattableColumn[list[str] | None]):
    """Names in one line; None for the default of the operator."""

    def human_readable(self) -> str:
        """Return them with commas."""
        return 'default' if self._value is None else ', '.join(self._value) or 'none'


class NumbersColumn(columns.FormattableColumn[list[int] | None]):
    """Numbers in one line."""

    def human_readable(self) -> str:
        """Return them with commas."""
        return ', '.join(map(str, self._value or ()))


class ValuesColumn(columns.FormattableColumn[dict[str, Any] | None]):
    """Names with values, one in each line, since some values are long."""

    def human_readable(self) -> str:
        """Return the name and the value of each."""
        return '\n'.join(f'{name}={value}' for name, value in sorted((self._value or {}).items()))


class InventoriesColumn(columns.FormattableColumn[dict[str, Any]]):
    """How much of each resource class there is, one in each line."""

    def human_readable(self) -> str:
        """Return the class and the total of each, without what is reserved for others."""
        return '\n'.join(
            f'{name} {found["total"] - found["reserved"]}'
            for name, found in sorted((self._value or {}).items())
        )


class ReservationsColumn(columns.FormattableColumn[list[dict[str, Any]]]):
    """The reservations of a lease or an offer, one in each line."""

    def human_readable(self) -> str:
        """Return the amount and type of each, with status and id if there are any."""
        return '\n'.join(summary(each) for each in self._value or ())


class EventsColumn(columns.FormattableColumn[list[dict[str, Any]]]):
    """The events of a lease, one in each line."""

    def human_readable(self) -> str:
        """Return the time, kind and status of each, in order."""
        ordered = sorted(self._value or (), key=lambda event: str(event['time']))
        return '\n'.join(
            f'{times.write(event["time"])} {event["event_type"]} {event["status"]}'
            for event in ordered
        )


def summary(reservation: dict[str, Any]) -> str:
    """Return the amount and type of a reservation, with status and id if it has them."""
    parts = [_amount(reservation), str(reservation['resource_type'])]
    parts += [str(reservation[key]) for key in ('status', 'id') if reservation.get(key)]
    return ' '.join(filter(None, parts))


def _amount(reservation: dict[str, Any]) -> str:
    if reservation.get('amount') is not None:
        return str(reservation['amount'])
    least, most = reservation.get('min'), reservation.get('max')
    if least is None or most is None:
        return ''
    return str(least) if least == most else f'{least}-{most}'
