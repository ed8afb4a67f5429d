# SPDX-License-Identifier: Apache-2.0

"""Reads the options that describe reservations, in their order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from typing import Final

from climate.client import fields
from climate.client.reservations import DETAILS
from climate.client.reservations import OPTIONS
from climate.client.reservations import Reservation
from climate.client.reservations import ReservationOption
from climate.client.reservations import ReservationSyntaxError
from climate.client.reservations import WrittenReservation

_ANY: Final = ReservationOption(
    metavar='',
    about='',
    # No option begins it.
    read=OPTIONS['reservation'].read,
    # The same detail has the same field in every type, apart from what several types lack.
    details={name: field for option in OPTIONS.values() for name, field in option.details.items()},
)


def build(given: Iterable[tuple[str, str]]) -> list[Reservation]:
    """Return the reservations that options describe, in their order.

    :param given: names and values of options, without dashes, as they were given
    :raises ReservationSyntaxError: if an option cannot be read, or has no place
    """
    reader = ReservationReader()
    for name, text in given:
        reader.add(name, text)
    return reader.found


class ReservationReader:
    """Reads options one after the other.

    :param changes: whether they change reservations: details can come first, then without the
        type of the reservation, what is not given stays, and an empty requirement removes those
        that there are
    :ivar found: the reservations that they describe
    """

    def __init__(self, changes: bool = False) -> None:
        self.found: list[Reservation] = []
        self._changes = changes
        self._last: ReservationOption | None = None

    def add(self, name: str, text: str) -> None:
        """Read an option.

        :param name: without dashes
        :raises ReservationSyntaxError: if it cannot be read, or has no place
        """
        try:
            self._add(name, text)
        except ValueError as error:
            raise ReservationSyntaxError(name, str(error)) from None

    def _add(self, name: str, text: str) -> None:
        if name in OPTIONS:
            self._last = OPTIONS[name]
            defaults = {} if self._changes else self._last.defaults
            reservation = self._last.read(text)
            reservation.update(
                {key: value for key, value in defaults.items() if key not in reservation}
            )
            self.found.append(reservation)
            return
        if self._last is None and self._changes:
            self._last = _ANY
            self.found.append({})
        if self._last is None or name not in self._last.details:
            raise ValueError(f'it must follow {_owners(name)}')
        last = self.found[-1]
        if self._changes and name == 'where' and not text.strip():
            # The fields of other types are checked one by one.
            several = not isinstance(last, WrittenReservation)
            last.update(
                dict.fromkeys(fields.REQUIREMENTS if several else fields.REQUIREMENTS[:1], '')
            )
            return
        field, value = self._last.details[name], DETAILS[name].read(text)
        for key, part in {field: value}.items() if field else value.items():
            last[key] = _joined(last.get(key), part)


def _joined(old: Any, new: Any) -> Any:
    if isinstance(old, dict):
        return {**old, **new}
    return [*old, *new] if isinstance(old, list) else new


def _owners(detail: str) -> str:
    *most, last = [f'--{name}' for name, option in OPTIONS.items() if detail in option.details]
    return f'{", ".join(most)} or {last}' if most else last
