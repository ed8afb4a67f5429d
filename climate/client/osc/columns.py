# SPDX-License-Identifier: Apache-2.0

"""How tables show times and reservations; JSON and YAML show them as the API does."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from typing import Final

from cliff import columns

from climate.client import nouns
from climate.client import times
from climate.client import words
from climate.client.osc import holdings
from climate.domain.lifecycles import LeaseStatus


class TimeColumn(columns.FormattableColumn[str | None]):
    """An instant, in the zone of the user."""

    def human_readable(self) -> str:
        """Return the instant with its zone."""
        return times.write(self._value)


class TextColumn(columns.FormattableColumn[str]):
    """A text of the service, whose instants are in the zone of the user."""

    def human_readable(self) -> str:
        """Return the text."""
        return _INSTANT.sub(lambda found: times.write(found[0]), self._value)


_INSTANT: Final = re.compile(r'\b\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z')
_TIMES: Final = ('_at', '_date', '_until', 'earliest', 'latest')


def attributes(thing: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return attributes of an object as columns; their names show which are times."""
    values = {name: thing[name] for name in names}
    return {
        name: TimeColumn(value) if name.endswith(_TIMES) else value
        for name, value in values.items()
    }


def given(**values: Any) -> dict[str, Any]:
    """Return the values that the user gave, which are those that are not None."""
    return {name: value for name, value in values.items() if value is not None}


class IdColumn(columns.FormattableColumn[str | None]):
    """An id, of which a narrow table has the beginning."""

    def human_readable(self) -> str:
        """Return the whole id."""
        return self._value or ''


class DurationsColumn(columns.FormattableColumn[list[int] | None]):
    """Durations in seconds, in one line; None for the default of the operator."""

    def human_readable(self) -> str:
        """Return them with units and commas."""
        if self._value is None:
            return 'default'
        return ', '.join(map(times.write_duration, self._value)) or 'none'


class DurationColumn(columns.FormattableColumn[int | None]):
    """A duration in seconds."""

    def human_readable(self) -> str:
        """Return it with its unit, or nothing if there is none."""
        return '' if self._value is None else times.write_duration(self._value)


class UnbookedTimeColumn(TimeColumn):
    """The start or the end of a lease that waits for room, which is no booking."""

    def human_readable(self) -> str:
        """Return nothing: the forecast says when the lease may begin."""
        return ''


def period(lease: Mapping[str, Any]) -> dict[str, Any]:
    """Return the start and the end of a lease as columns."""
    kind = UnbookedTimeColumn if lease['status'] == LeaseStatus.WAITING else TimeColumn
    return {name: kind(lease[name]) for name in ('start_date', 'end_date')}


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
            f'{name} {inventory["total"] - inventory["reserved"]}'
            for name, inventory in sorted((self._value or {}).items())
        )


class WordColumn(columns.FormattableColumn[str]):
    """A kind or a state of an event, which tables name in the words of people."""

    def human_readable(self) -> str:
        """Return the word."""
        return words.state(words.event(self._value))


class ReservationsColumn(columns.FormattableColumn[list[dict[str, Any]]]):
    """The reservations of a lease or an offer, with what is known about them."""

    def human_readable(self) -> str:
        """Return the amount and noun of each, and below it its other fields."""
        return '\n'.join(line for each in self._value or () for line in holdings.lines(each))


class SummaryColumn(columns.FormattableColumn[Any]):
    """The amounts of the reservations of a lease or an offer, one in each line."""

    def human_readable(self) -> str:
        """Return amounts with the nouns of their types."""
        return '\n'.join(
            nouns.counted(holdings.amount(each), str(each['resource_type']))
            for each in self._value or ()
        )

    def machine_readable(self) -> str:
        """Return amounts with the names of their types."""
        return '\n'.join(
            f'{holdings.amount(each)} {each["resource_type"]}'.strip() for each in self._value or ()
        )


class AmountsColumn(SummaryColumn):
    """What an offer has of each reservation."""

    def machine_readable(self) -> str:
        """Return amounts with the names of their types, in one line."""
        return super().machine_readable().replace('\n', ', ')


class ShortagesColumn(columns.FormattableColumn[list[dict[str, Any]]]):
    """What is missing for an earlier start, one in each line."""

    def human_readable(self) -> str:
        """Return the amount and the noun or class of each, and until when it is missing."""
        return '\n'.join(_shortage(each) for each in self._value or ())


def _shortage(each: Mapping[str, Any]) -> str:
    name, number = each['resource_class'], str(each['missing'])
    what = f'{number} {name}' if name else nouns.counted(number, str(each['resource_type']))
    return f'{what} until {times.write(each["until"])}' if each['until'] else what


class EventsColumn(columns.FormattableColumn[list[dict[str, Any]]]):
    """The events of a lease, one in each line."""

    def human_readable(self) -> str:
        """Return the time, kind and state of each, in order."""
        return '\n'.join(
            f'{times.write(event["time"])} {words.event(event["event_type"])} '
            f'{words.state(event["status"])}'
            for event in words.for_people(self._value or (), 'time')
        )
