# SPDX-License-Identifier: Apache-2.0

"""Phrases of mails: how long something takes, and what has failed."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from climate.mail.notices import Notice

_MINUTE: Final = 60
_UNITS: Final = (('day', 86400), ('hour', 3600), ('minute', _MINUTE))
# Mails may wait for the server, and are read later; so long it is the same moment.
_MOMENT: Final = datetime.timedelta(minutes=-10)
_WAITING: Final = 'waiting:'
_OPERATIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        'prepare': 'prepare',
        'start_lease': 'start',
        'update_lease': 'change',
        'before_end_lease': 'prepare the end of',
        'end_lease': 'end',
        'delete_lease': 'delete',
    }
)
_OUTCOMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        'suspend': 'It is suspended, and resumes with the time that is left',
        'requeue': 'Climate takes back its resources, and may delete what runs on them: save what '
        'you need. It begins again from the start',
    }
)


def span(left: datetime.timedelta) -> str:
    """Return a length of time in words that people use: ``about 3 hours``."""
    seconds = left.total_seconds()
    if seconds < _MINUTE:
        return 'a moment' if seconds <= 0 else 'less than a minute'
    for unit, length in _UNITS:
        number = round(seconds / length)
        if seconds >= length:
            return f'about {number} {unit}' + ('' if number == 1 else 's')
    raise AssertionError


def starts(left: datetime.timedelta) -> str:
    """Return when a lease starts: ``starts in about 3 hours``, ``is starting``."""
    return _verb(left, 'starts', 'is starting', 'has started')


def ends(left: datetime.timedelta) -> str:
    """Return when a lease ends: ``ends in about 3 hours``, ``is ending``."""
    return _verb(left, 'ends', 'is ending', 'has ended')


def yields(left: datetime.timedelta) -> str:
    """Return when a lease yields: ``yields in about 5 minutes``, ``is yielding``."""
    return _verb(left, 'yields', 'is yielding', 'has yielded')


def outcome(mode: str) -> str:
    """Return what becomes of a lease that yields, as the beginning of a sentence."""
    return _OUTCOMES.get(mode, 'It gives up its resources, and begins again')


def problem(notice: Notice, name: str) -> str:
    """Return what has failed, as the beginning of a sentence: its reason follows.

    :param name: of the lease, as the mail shows it
    """
    verb = _OPERATIONS.get(notice.operation)
    if verb is None:
        return f'there is a problem with your lease "{name}"'
    if notice.reason.startswith(_WAITING):
        return f'Climate cannot {verb} your lease "{name}" yet, and keeps trying'
    return f'Climate could not {verb} your lease "{name}"'


def _verb(left: datetime.timedelta, future: str, present: str, past: str) -> str:
    if left > datetime.timedelta(0):
        return f'{future} in {span(left)}'
    return present if left > _MOMENT else past
