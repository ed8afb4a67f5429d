# SPDX-License-Identifier: Apache-2.0

"""Shows a refusal with its reasons and offers, and asks which offer to take."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from climate.client import nouns
from climate.client import terminal
from climate.client import times
from climate.client.sdk import errors

_ABOUT: Mapping[str, str] = {
    'soonest': 'later',
    'most': 'as much as there is',
    'longest': 'as long as it is free',
    'displacing': 'flexible leases move',
    'other_property': 'with another property',
}


def describe(error: errors.RefusedRequest) -> str:
    """Return the message, the reasons and the offers of a refusal.

    Offers that can be taken have a number, which :func:`choose` takes. For the others, the
    user must send another request.
    """
    reasons_of = (f'  {each}' for each in reasons(error))
    return terminal.shown('\n'.join([str(error), *reasons_of, *_numbered(error)]))


def choose(
    error: errors.RefusedRequest,
    ask: Callable[[str], str] | None,
    waits: Mapping[str, Any] | None = None,
) -> Mapping[str, Any] | None:
    """Return the offer that the user takes, or *waits*; None if the user takes none.

    :param ask: shows a question and returns the answer; None without a terminal
    :param waits: what the answer ``w`` chooses; None if the lease cannot wait
    """
    offers = takeable(error)
    if ask is None or not (offers or waits):
        return None
    answers = [*([f'1-{len(offers)}'] if offers else []), *(['w'] if waits else [])]
    while True:
        answer = ask(f'Take which offer? [{", ".join(answers)}, Enter for none] ').strip()
        if not answer:
            return None
        if answer.lower() == 'w' and waits:
            return waits
        if answer.isascii() and answer.isdigit() and 0 < int(answer) <= len(offers):
            return offers[int(answer) - 1]


def takeable(error: errors.RefusedRequest) -> list[dict[str, Any]]:
    """Return the offers that a lease can take."""
    return [offer for offer in error.alternatives if offer.get('id')]


def period(offer: Mapping[str, Any], zone: datetime.tzinfo | None = None) -> str:
    """Return the period of an offer.

    :param zone: None for that of the machine
    """
    return f'{times.write(offer["start_date"], zone)} to {times.write(offer["end_date"], zone)}'


def amounts(offer: Mapping[str, Any]) -> str:
    """Return what an offer has of each reservation."""
    return ', '.join(
        nouns.counted(str(each['amount']), str(each['resource_type']))
        for each in offer['reservations']
    )


def reasons(error: errors.RefusedRequest, zone: datetime.tzinfo | None = None) -> Iterator[str]:
    """Yield for each resource type how much there is.

    :param zone: of the times; None for that of the machine
    """
    for reason in error.reasons:
        what = nouns.plural(str(reason['resource_type']))
        ends = times.write(reason.get('first_blocker_ends'), zone)
        until = f', and the first reservation in the way ends {ends}' if ends else ''
        if detail := reason.get('detail'):
            # The message of the service often ends with it.
            if detail.lower() not in str(error).lower():
                yield f'{what}: {detail}'
            continue
        if not reason['matched']:
            kind = reason['resource_type']
            yield (
                f'{what}: none matches; openstack reservable resource property list --type {kind} '
                'shows what there is'
            )
            continue
        yield f'{what}: {reason["matched"]} match, {reason["free"]} free{until}'


def offers(error: errors.RefusedRequest, zone: datetime.tzinfo | None = None) -> Iterator[str]:
    """Yield the offers, each with its period, amounts and reason.

    :param zone: as in :func:`reasons`
    """
    for offer in error.alternatives:
        about = _ABOUT.get(str(offer['reason']), str(offer['reason']))
        yield f'{period(offer, zone)}: {amounts(offer)} ({about})'


def _numbered(error: errors.RefusedRequest) -> Iterator[str]:
    number = 0
    for offer, text in zip(error.alternatives, offers(error), strict=True):
        if offer.get('id'):
            number += 1
            place = f'{number}.'
        else:
            place = '-'
        yield f'  {place} {text}'
        for each in offer.get('requirements') or ():
            yield f'     {each["property"]}: {", ".join(map(str, each["values"]))}'
        if offer.get('id'):
            yield f'     offer {offer["id"]}'
