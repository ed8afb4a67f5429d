# SPDX-License-Identifier: Apache-2.0

"""Decides what becomes of a preemptible lease whose place others need."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable
from typing import Final

from climate import exceptions
from climate.booking.requests.requests import ReservationRequest
from climate.domain.leases import YieldMode
from climate.domain.requests import LeaseDraft

_WORDS: Final = {
    YieldMode.SUSPEND: 'be suspended',
    YieldMode.REQUEUE: 'begin again',
    YieldMode.END: 'end early',
}


def settled(
    draft: LeaseDraft, found: Iterable[ReservationRequest], shortest: datetime.timedelta
) -> LeaseDraft:
    """Return the draft of a preemptible lease with how it yields.

    :param found: its reservations
    :param shortest: the shortest slice of a lease that can be suspended
    :raises climate.exceptions.MalformedParameter: if one of its types cannot do that
    """
    length = draft.end - draft.start
    mode = _mode(draft, [one for one in found if one.whole is None])
    least = draft.min_duration
    if least is None:
        least = min(shortest, length) if mode is YieldMode.SUSPEND else length
    if least > length:
        raise _malformed('min_duration', 'at most duration is allowed')
    if mode is YieldMode.REQUEUE and least < length:
        raise _malformed('min_duration', 'a lease that begins again needs its whole duration')
    return dataclasses.replace(draft, yields=mode, min_duration=least)


def _mode(draft: LeaseDraft, found: Iterable[ReservationRequest]) -> YieldMode:
    """Return what is requested, or else the best that all types can do."""
    can = {one.plugin.resource_type: one.plugin.yields(one.request) for one in found}
    if draft.yields is None:
        return next(mode for mode in YieldMode if all(mode in modes for modes in can.values()))
    for resource_type, modes in can.items():
        if draft.yields not in modes:
            others = ' and '.join(mode for mode in YieldMode if mode in modes)
            raise _malformed(
                'yield',
                f'a reservation of {resource_type} cannot {_WORDS[draft.yields]}; it can {others}',
            )
    return draft.yields


def _malformed(field: str, reason: str) -> exceptions.MalformedParameter:
    return exceptions.MalformedParameter(f'Malformed parameter {field}: {reason}')
