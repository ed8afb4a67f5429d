# SPDX-License-Identifier: Apache-2.0

"""Options that several commands have, and the fields of requests that they become."""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import re
from collections.abc import Callable
from collections.abc import Sequence
from typing import Any

from dateutil import tz
from osc_lib import exceptions

from climate.client import requirements
from climate.client import reservation_reader
from climate.client import reservations
from climate.client import sizes
from climate.client import times
from climate.client.sdk import proxy
from climate.clock import SystemClock
from climate.domain import periods


class _Append(argparse.Action):
    """Reads options in their order, on which the meaning of details depends."""

    @staticmethod
    def reader() -> reservation_reader.ReservationReader:
        return reservation_reader.ReservationReader()

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        reader = getattr(namespace, self.dest) or self.reader()
        setattr(namespace, self.dest, reader)
        try:
            reader.add(self.option_strings[0].removeprefix('--'), str(values))
        except reservations.ReservationSyntaxError as error:
            raise argparse.ArgumentError(self, error.reason) from None


class _Change(_Append):
    @staticmethod
    def reader() -> reservation_reader.ReservationReader:
        return reservation_reader.ReservationReader(changes=True)


def add_reservations(parser: argparse.ArgumentParser, changes: bool = False) -> None:
    """Add the options that describe reservations.

    :param changes: whether they change those of a lease
    """
    title = 'reservations (several form one lease)'
    if changes:
        title = 'new amounts of the reservations that the lease has'
    groups = (
        (title, reservations.OPTIONS),
        ('details of the reservation before them', reservations.DETAILS),
    )
    for title, options in groups:
        group = parser.add_argument_group(title)
        for name, option in options.items():
            spellings = [f'--{name}', getattr(option, 'short', '')]
            group.add_argument(
                *filter(None, spellings),
                dest='reservations',
                action=_Change if changes else _Append,
                metavar=option.metavar,
                # Not capitalize(), which makes N and 500G lower case.
                help=option.about[:1].upper() + option.about[1:],
            )


def now() -> datetime.datetime:
    """Return the present instant in the zone of the user."""
    return SystemClock.now().astimezone(tz.tzlocal())


def build_reservations(parsed: argparse.Namespace) -> list[reservations.Reservation]:
    """Return the reservations that options describe."""
    return parsed.reservations.found if parsed.reservations else []


def name(text: str) -> str:
    """Return the name or id of an object, for argparse.

    :raises argparse.ArgumentTypeError: if it is empty, which would mean all objects in a URL
    """
    if not text.strip():
        raise argparse.ArgumentTypeError('a name or an ID is required')
    return text


def identifier(text: str) -> str:
    """Return what becomes a part of a URL, for argparse.

    :raises argparse.ArgumentTypeError: if the URL would be another one
    """
    if proxy.SEPARATORS.search(name(text)):
        raise argparse.ArgumentTypeError(f'{text!r} is no ID')
    return text


def instant(text: str) -> datetime.datetime:
    """Return the instant of an option, for argparse."""
    try:
        return times.instant(text, now())
    except times.TimeSyntaxError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


@dataclasses.dataclass(frozen=True, slots=True)
class WrittenEnd:
    """An end as the user wrote it, which may depend on a start."""

    text: str

    def after(self, start: datetime.datetime | None) -> datetime.datetime:
        """Return the end of what begins at *start*.

        A time alone is on the day of the start.

        :param start: None for the present
        :raises osc_lib.exceptions.CommandError: if the end is not later
        """
        present = now()
        at = times.instant(self.text, present, start)
        if at <= (start or present):
            zone = present.tzinfo
            begin = (start or present).astimezone(zone).strftime('%a %Y-%m-%d %H:%M %Z')
            raise exceptions.CommandError(
                f'--until {self.text!r} is {at.astimezone(zone):%a %Y-%m-%d %H:%M %Z}, which is '
                f'not after the start at {begin}; write the day, too, or a duration with --for'
            )
        return at


def end(text: str) -> WrittenEnd:
    """Return the end of an option, for argparse."""
    instant(text)
    return WrittenEnd(text)


def add_until(parser: Any, about: str = 'End: a time alone is on the day of the start') -> None:
    """Add the option ``--until`` to a parser or a group."""
    parser.add_argument('--until', metavar='TIME', type=end, help=about)


def add_duration(parser: Any, name: str, about: str, **more: Any) -> None:
    """Add an option that is a length of time, such as 4h."""
    parser.add_argument(name, metavar='DURATION', type=duration, help=about, **more)


def add_preempt_own(parser: Any) -> None:
    """Add the option ``--preempt-own``."""
    parser.add_argument(
        '--preempt-own',
        action='store_true',
        help='If too little is free, preemptible leases of your own project may have to yield, too',
    )


def add_priority(parser: Any) -> None:
    """Add the option ``--priority``."""
    parser.add_argument(
        '--priority',
        type=int,
        metavar='NUMBER',
        help='From -100 to 100: a higher one comes first; above 0 needs a special right',
    )


def add_length(parser: Any, about: str, **more: Any) -> None:
    """Add the option ``--for`` to a parser or a group."""
    add_duration(parser, '--for', about, dest='length', **more)


_START = 'Start, now by default'


def add_at(parser: Any, about: str = _START) -> None:
    """Add the option ``--at`` to a parser or a group."""
    parser.add_argument('--at', metavar='TIME', type=instant, help=about)


def add_period(parser: Any, length: str, *, start: str = _START, required: bool = False) -> None:
    """Add the options ``--at``, and ``--for`` or ``--until``.

    :param length: about the length
    :param start: about the start
    :param required: whether an end is
    """
    add_at(parser, start)
    end_options = parser.add_mutually_exclusive_group(required=required)
    add_length(end_options, length)
    add_until(end_options)


def start(text: str) -> datetime.datetime | str:
    """Return the instant of an option, for argparse; ``now`` is when the request arrives."""
    return periods.NOW if text.strip() == periods.NOW else instant(text)


def number(text: str) -> int:
    """Return the whole number of an option, for argparse.

    :raises argparse.ArgumentTypeError: if it is none, or is zero
    """
    if not re.fullmatch(r'0*[1-9]\d{0,8}', text):
        raise argparse.ArgumentTypeError(f'{text!r} is no number')
    return int(text)


def size(read: Callable[[str], int]) -> Callable[[str], int]:
    """Return what reads the size of an option, for argparse.

    :param read: a function of :mod:`climate.client.sizes`
    """

    def found(text: str) -> int:
        try:
            return read(text)
        except sizes.SizeSyntaxError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return found


def past(text: str) -> datetime.datetime:
    """Return the instant of an option, which can be ``30d ago``, for argparse.

    :raises argparse.ArgumentTypeError: if it cannot be read
    """
    ago = re.fullmatch(r'(.+\S)\s+ago', text)
    return now() - duration(ago[1]) if ago else instant(text)


def duration(text: str) -> datetime.timedelta:
    """Return the duration of an option, for argparse."""
    try:
        return times.duration(text)
    except times.TimeSyntaxError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def requirement(text: str) -> str:
    """Return the requirement of an option as the API takes it, for argparse."""
    try:
        return requirements.as_json(text)
    except requirements.RequirementSyntaxError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def written(moment: datetime.datetime | str, microversion: str) -> str:
    """Return an instant as a request has it; version 1.0 knows minutes only."""
    if isinstance(moment, str):
        return moment
    moment = moment.astimezone(datetime.UTC)
    if microversion == '1.0':
        return moment.strftime('%Y-%m-%d %H:%M')
    return moment.isoformat().replace('+00:00', 'Z')
