# SPDX-License-Identifier: Apache-2.0

"""The bodies of requests for a lease, from the properties of a template."""

from __future__ import annotations

import datetime
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

from climate.domain import periods

NAME: Final = 'name'
START: Final = 'start_date'
END: Final = 'end_date'
DURATION: Final = 'duration'
RESERVATIONS: Final = 'reservations'
EVENTS: Final = 'events'
LABEL: Final = 'label'
"""The key of a reservation that only templates have."""
TYPE: Final = 'resource_type'
PENDING: Final = 'PENDING'
WAITING: Final = 'WAITING'
SEARCH: Final = ('earliest', 'latest', 'prefer', 'property')
"""What an offer has to be like."""
FIRM: Final = 'firm_before'
WAIT: Final = 'wait'
PREEMPTIBLE: Final = 'preemptible'
FLEXIBLE: Final = (FIRM, WAIT, PREEMPTIBLE)
"""What makes a lease flexible."""
UNTIL: Final = 'wait_until'
YIELD: Final = 'yield'
SHORTEST: Final = 'min_duration'
DETAILS: Final = ('before_end_date', 'notify_before_start', 'notices')
"""Fields that have the same meaning in the API, where null is the default."""

_WINDOW: Final = ('earliest', 'latest')
# What requires another property.
_REQUIRED: Final = {UNTIL: WAIT, YIELD: PREEMPTIBLE, SHORTEST: PREEMPTIBLE}
# What describes an offer, or times that do not move with the lease.
_FIXED: Final = ('prefer', 'property', 'before_end_date', EVENTS)

# How far an offer may start ahead by default, as in the API.
_AHEAD: Final = datetime.timedelta(days=14)

Values = Mapping[str, Any]


def fault_of_period(given: Collection[str]) -> str | None:
    """Return what is wrong with the properties that describe the period; None if nothing is.

    :param given: the properties that have a value
    """
    if (END in given) == (DURATION in given):
        return f'Exactly one of {END} and {DURATION} is required'
    if START in given or END in given:
        for each in (*SEARCH, *FLEXIBLE, *_REQUIRED):
            if each in given:
                return f'{each} requires {DURATION}, without {START}'
    for each, required in _REQUIRED.items():
        if each in given and required not in given:
            return f'{each} requires {required}'
    for flexible in FLEXIBLE:
        for each in _FIXED:
            if flexible in given and each in given:
                return f'{flexible} excludes {each}'
    return None


def fault_of_labels(reservations: Sequence[Values]) -> str | None:
    """Return what is wrong with the labels of reservations; None if nothing is."""
    labels = [str(each[LABEL]) for each in reservations if each.get(LABEL) is not None]
    for label in labels:
        if labels.count(label) > 1:
            return f'Several reservations have the {LABEL} {label}'
    return None


def by_offer(properties: Values) -> bool:
    """Return whether the lease takes an offer."""
    fixed = (START, END, *FLEXIBLE)
    return all(properties.get(key) is None for key in fixed)


def is_flexible(properties: Values) -> bool:
    """Return whether the lease moves forward until it is firm."""
    return any(properties.get(key) is not None for key in FLEXIBLE)


def common(properties: Values) -> dict[str, Any]:
    """Return the fields of a new lease that do not depend on its period."""
    keys = (NAME, EVENTS, *DETAILS)
    return {key: properties[key] for key in keys if properties.get(key) is not None}


def lease(properties: Values) -> dict[str, Any]:
    """Return the body of a lease that takes no offer.

    One with a fixed period and without a start starts now.
    """
    window = (DURATION, *_WINDOW, *FLEXIBLE, *_REQUIRED)
    keys = window if is_flexible(properties) else (END, DURATION)
    start = {} if is_flexible(properties) else {START: properties.get(START) or periods.NOW}
    return {
        **common(properties),
        **start,
        **{key: properties[key] for key in keys if properties.get(key) is not None},
        RESERVATIONS: requests(properties[RESERVATIONS]),
    }


def starts_now(properties: Values, now: datetime.datetime) -> bool:
    """Return whether a lease that starts now is what a template without a start requests.

    Offers start a minute from now or later, so that a lease that is possible at once would
    wait.

    :param now: aware UTC
    """
    if properties.get('earliest') is not None or properties.get('prefer') is not None:
        return False
    if properties.get('latest') is None:
        return True
    latest = periods.instant(properties['latest'], now)
    return latest is not None and now + _length(properties) <= latest


def search(properties: Values, now: datetime.datetime) -> dict[str, Any]:
    """Return the body of the request for one offer.

    :param now: aware UTC
    """
    query = {key: properties[key] for key in SEARCH if properties.get(key) is not None}
    if 'latest' not in query:
        earliest = periods.instant(query.get('earliest') or periods.NOW, now) or now
        query['latest'] = (earliest + _AHEAD + _length(properties)).isoformat()
    wanted = requests(properties[RESERVATIONS])
    return {DURATION: properties[DURATION], 'limit': 1, RESERVATIONS: wanted, **query}


def is_searched(query: Values, reached: str) -> bool:
    """Return whether a search without a result is complete.

    :param query: its body
    :param reached: the last start that was considered
    """
    latest, last = periods.instant(query['latest']), periods.instant(reached)
    return latest is None or last is None or last >= latest - _length(query)


def _length(values: Values) -> datetime.timedelta:
    # The API explains what is wrong with a text that cannot be read.
    return periods.duration(str(values[DURATION])) or datetime.timedelta()


def requests(reservations: Sequence[Values]) -> list[dict[str, Any]]:
    """Return reservations as the API knows them: without labels and empty values."""
    return [
        {key: value for key, value in each.items() if key != LABEL and value is not None}
        for each in reservations
    ]


def needs_offer(before: Values, after: Values) -> bool:
    """Return whether what changed in the template makes a lease that is pending another one."""
    changed = any(before.get(key) != after.get(key) for key in (*SEARCH, FIRM)) or (
        is_flexible(before) != is_flexible(after)
    )
    yields = any(before.get(key) != after.get(key) for key in (PREEMPTIBLE, YIELD, SHORTEST))
    if yields and after.get(START) is None:
        return True
    # A flexible lease can get another window, or a start.
    in_place = is_flexible(before) and (is_flexible(after) or after.get(START) is not None)
    return changed and not in_place


def needs_another(before: Values, after: Values, lease: Values) -> bool:
    """Return whether a lease that has not started cannot become what the template wants."""
    if lease['status'] == WAITING and (after.get(START) is not None or not is_flexible(after)):
        return True
    return lease['status'] in (PENDING, WAITING) and needs_offer(before, after)


def change(before: Values, after: Values, lease: Values) -> dict[str, Any] | None:
    """Return the body that changes a lease as the template changed.

    :param before: the properties so far
    :param after: the properties now
    :param lease: the lease, as the API shows it
    :returns: what is to change, which can be empty; None if the API has no such change
    """
    changed = {key for key in {*before, *after} if before.get(key) != after.get(key)}
    body: dict[str, Any] = {key: after[key] for key in (NAME, *DETAILS) if key in changed}
    if changed & {START, END, DURATION}:
        if changed & {START} and after.get(START) is None:
            return None
        # The end counts from the start, so that both are sent.
        keys = (START,) * (START in changed) + (END, DURATION)
        body |= {key: after[key] for key in keys if after.get(key) is not None}
    if lease['status'] in (PENDING, WAITING) and is_flexible(before) and is_flexible(after):
        body |= {key: after.get(key) for key in (*_WINDOW, FIRM) if key in changed}
        if body.get('earliest', '') is None:
            # Null would fix the start.
            body['earliest'] = periods.NOW
        if body.get(FIRM, '') is None:
            # What operators have set is the least.
            body[FIRM] = 0
    if RESERVATIONS in changed:
        items = _changed_items(before[RESERVATIONS], after[RESERVATIONS], lease)
        if items is None:
            return None
        body |= {RESERVATIONS: items} if items else {}
    return body


def _changed_items(
    before: Sequence[Values], after: Sequence[Values], lease: Values
) -> list[dict[str, Any]] | None:
    old, new, booked = requests(before), requests(after), wanted(lease)
    if [each.get(TYPE) for each in old] != [each.get(TYPE) for each in new]:
        return None
    items = []
    for was, now, item in zip(old, new, booked, strict=True):
        changed = {key: value for key, value in now.items() if was.get(key) != value}
        # A placement is fixed, and the API has no request that removes a field.
        if 'placement' in changed or was.keys() - now.keys():
            return None
        if changed:
            items.append({'id': item['id'], **changed})
    return items


def wanted(lease: Values) -> list[Values]:
    """Return the reservations that were requested, without those that others imply."""
    return [each for each in lease[RESERVATIONS] if not each.get('part_of')]


def reservation_ids(reservations: Sequence[Values], lease: Values) -> dict[str, str]:
    """Return the ids of reservations by label, and those of the first of a type by type.

    :param reservations: as in the template
    :param lease: as the API shows it
    """
    ids: dict[str, str] = {}
    for each, booked in zip(reservations, wanted(lease), strict=False):
        if each.get(LABEL) is not None:
            ids[str(each[LABEL])] = booked['id']
    for booked in wanted(lease):
        ids.setdefault(booked[TYPE], booked['id'])
    return ids
