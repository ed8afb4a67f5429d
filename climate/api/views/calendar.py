# SPDX-License-Identifier: Apache-2.0

"""Pages of the calendar as JSON: columns of numbers, which are short and compress well."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.domain.calendar import CalendarBar
from climate.domain.calendar import CalendarLease
from climate.domain.calendar import CalendarPage
from climate.domain.calendar import CalendarPageQuery

WHOLE: Final = 1000
"""The share of a bar that has the whole resource."""
_PREFERRED: Final = 'VCPU'
_NONE: Final = -1


def page(
    query: CalendarPageQuery, contents: CalendarPage, *, shows_closure_ids: bool
) -> dict[str, Any]:
    """Return a page; the n-th values of the lists of an object belong together.

    :param shows_closure_ids: whether the caller may list maintenances
    """
    places = {one.id: place for place, one in enumerate(contents.resources)}
    tables = _Capacities(contents)
    shown: dict[str, Any] = {
        'resource_type': query.resource_type,
        'start': _seconds(query.period.start),
        'end': _seconds(query.period.end),
        'generation': contents.tag,
        'total': contents.total,
        'group_by': query.group_by,
        'resources': {
            'id': [one.id for one in contents.resources],
            'name': [one.name for one in contents.resources],
            'disabled': [int(one.disabled) for one in contents.resources],
            'failed': [int(one.failed_at is not None) for one in contents.resources],
            'capacity': [tables.places[one.id] for one in contents.resources],
        },
        'capacities': tables.classes,
        'main': tables.main,
        **_reserved(query, contents, places, tables),
        'maintenances': {
            'resource': [places[one.resource_id] for one in contents.closures],
            'start': [_seconds(one.start) for one in contents.closures],
            'end': [_seconds(one.end) for one in contents.closures],
        },
    }
    if query.group_by is not None:
        shown['resources']['group'] = [one.group for one in contents.resources]
    if contents.groups is not None:
        shown['groups'] = {
            'value': [one.value for one in contents.groups],
            'count': [one.number for one in contents.groups],
        }
    if shows_closure_ids:
        shown['maintenances']['id'] = [one.id for one in contents.closures]
    if contents.more:
        shown['next_marker'] = contents.resources[-1].id
    return shown


class _Capacities:
    """The different capacities of the resources of a page.

    :ivar classes: units by resource class
    :ivar main: the class whose units bars show, of each of them; None if it has no classes
    :ivar places: the place in these lists of each resource, by id
    """

    def __init__(self, contents: CalendarPage) -> None:
        self.classes: list[dict[str, int]] = []
        self.main: list[str | None] = []
        self.places: dict[int, int] = {}
        known: dict[tuple[tuple[str, int], ...], int] = {}
        for one in contents.resources:
            units = contents.capacities.get(one.id, {})
            key = tuple(sorted(units.items()))
            if key not in known:
                known[key] = len(self.classes)
                self.classes.append(dict(key))
                self.main.append(_PREFERRED if _PREFERRED in units else min(units, default=None))
            self.places[one.id] = known[key]

    def amount(self, bar: CalendarBar) -> tuple[int, int]:
        """Return the units of the main class that a bar has, and its share in thousandths."""
        place = self.places[bar.resource_id]
        units, main = self.classes[place], self.main[place]
        if not bar.amounts:
            return units[main] if main is not None else 1, WHOLE
        return bar.amounts.get(main or '', 0), _share(bar.amounts, units)


def _share(amounts: Mapping[str, int], units: Mapping[str, int]) -> int:
    """Return the share of the class of which most is taken; of unknown classes, all."""
    shares = (
        -(-amount * WHOLE // units[name]) if units.get(name, 0) > 0 else WHOLE
        for name, amount in amounts.items()
    )
    return max(1, min(WHOLE, max(shares)))


def _reserved(
    query: CalendarPageQuery, contents: CalendarPage, places: Mapping[int, int], tables: _Capacities
) -> dict[str, Any]:
    # A resource may have come between two statements.
    bars = [bar for bar in contents.bars if bar.resource_id in places]
    leases: dict[CalendarLease, int] = {}
    for bar in bars:
        if bar.lease is not None:
            leases.setdefault(bar.lease, len(leases))
    amounts = [tables.amount(bar) for bar in bars]
    shown: dict[str, Any] = {
        'id': [lease.id for lease in leases],
        'name': [lease.name for lease in leases],
        'status': [lease.status for lease in leases],
        'mine': [int(lease.project_id == query.project_id) for lease in leases],
    }
    if query.all_projects:
        shown['project_id'] = [lease.project_id for lease in leases]
    if query.flexible:
        shown['firm_at'] = [lease.firm_at and _seconds(lease.firm_at) for lease in leases]
    return {
        'allocations': {
            'resource': [places[bar.resource_id] for bar in bars],
            'start': [_seconds(bar.start) for bar in bars],
            'end': [_seconds(bar.end) for bar in bars],
            'amount': [amount for amount, _ in amounts],
            'share': [share for _, share in amounts],
            'lease': [_NONE if bar.lease is None else leases[bar.lease] for bar in bars],
        },
        'held': [place for place, bar in enumerate(bars) if bar.held],
        'leases': shown,
    }


def _seconds(instant: datetime.datetime) -> int:
    """Return an instant in seconds since 1970, rounded down."""
    return int(instant.timestamp() // 1)
