# SPDX-License-Identifier: Apache-2.0

"""Tells what is free of a resource type over time, but not whose leases hold the others."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from collections.abc import Sequence

import numpy as np

from climate import exceptions
from climate.allocation import availability
from climate.allocation.availability import Amounts
from climate.allocation.blocks import Block
from climate.allocation.buckets import Buckets
from climate.allocation.matches import Match
from climate.allocation.steps import Ints
from climate.allocation.steps import microseconds
from climate.booking.choosing.candidates import MatchingBlocks
from climate.booking.requests import requests
from climate.booking.requests.context import Context
from climate.conf.planner import Displace
from climate.db.transactions import expired_holds
from climate.db.transactions.store import Transaction
from climate.domain.availability import AvailabilityGroup
from climate.domain.availability import AvailabilityQuery
from climate.domain.availability import BucketAmounts
from climate.domain.availability import MOST_CELLS
from climate.domain.budgets import RequestBudget


def show(
    context: Context, budget: RequestBudget, query: AvailabilityQuery
) -> tuple[AvailabilityGroup, ...]:
    """Return what is free in each bucket, by the values of a property.

    :param budget: what is left for the request
    :raises climate.exceptions.UnsupportedResourceType: if there is no such type
    :raises climate.exceptions.InvalidInput: naming the parameter that is wrong
    """
    plugin = requests.plugin_of(context.plugins, query.resource_type)
    if plugin.resource_schema is None:
        raise exceptions.InvalidInput.of(
            'resource_type',
            f'{query.resource_type} has no resources of its '
            'own: it uses those of other types, or objects of one project. Ask for the type of '
            'the resources, or for offers.',
        )
    pause = context.settings.cleaning_time
    expired_holds.release(context.store)
    with context.store.reading(budget) as tx:
        match = Match(
            resource_type=query.resource_type,
            requirement=requests.parsed_requirement(
                'resource_properties', query.requirement, traits=query.traits
            ),
            private=query.compares_private,
        )
        matching = MatchingBlocks(tx)
        blocks = [*matching.of(match)]
        displaces = context.settings.displace is Displace.WINDOW
        moved = _without_movable(tx, query, matching, match) if displaces else ()
        values, groups = _groups(tx, query, [*blocks, *moved])
        buckets = Buckets(
            start=microseconds(query.period.start),
            width=microseconds(query.period.start + query.step) - microseconds(query.period.start),
            number=query.number,
            since=microseconds(tx.now),
            pause=microseconds(query.period.start) - microseconds(query.period.start - pause),
        )
    count = functools.partial(availability.availability, budget=budget)
    number = len(blocks)
    found = count(blocks, buckets, query.demand, groups[:number], len(values))
    free = found
    if moved:
        free = count(moved, buckets, query.demand, groups[number:], len(values))
    return tuple(
        _group(found, free if query.movable else None, place, value)
        for place, value in enumerate(values)
    )


def _without_movable(
    tx: Transaction, query: AvailabilityQuery, matching: MatchingBlocks, match: Match
) -> Sequence[Block]:
    """Return the resources without the leases that may still move; none if there are none."""
    if not query.movable:
        return ()
    gone = tx.queue.allocations(query.resource_type, query.period)
    return matching.without(gone).of(match) if gone else ()


def _groups(
    tx: Transaction, query: AvailabilityQuery, blocks: Sequence[Block]
) -> tuple[list[str | None], list[Ints]]:
    """Return the values of the groups, and the group of each resource of each block.

    :raises climate.exceptions.InvalidInput: if the caller can see no such property
    """
    if query.group_by is None:
        return [None], [np.zeros(len(block), dtype=np.int64) for block in blocks]
    found = _values(tx, query, query.group_by)
    values: list[str | None] = [*sorted(set(found.values()))]
    places = {value: place for place, value in enumerate(values)}
    without = len(values)
    groups = [
        np.array(
            [places.get(found.get(key), without) for key in block.ids.tolist()], dtype=np.int64
        )
        for block in blocks
    ]
    if any((each == without).any() for each in groups):
        values.append(None)
    if len(values) * query.number > MOST_CELLS:
        raise exceptions.InvalidInput.of(
            'group_by',
            f'{len(values)} values in {query.number} buckets are '
            f'{len(values) * query.number} figures, and at most {MOST_CELLS} are allowed; '
            'shorten the period, or increase step',
        )
    return values, groups


def _values(tx: Transaction, query: AvailabilityQuery, name: str) -> dict[int, str]:
    hidden = set() if query.sees_private else tx.properties.private_names(query.resource_type)
    found = {} if name in hidden else tx.properties.of_resources(query.resource_type, name)
    if not found:
        raise exceptions.InvalidInput.of(
            'group_by', f'no resource of the type {query.resource_type} has such a property'
        )
    return found


def _group(
    found: availability.Availability,
    moved: availability.Availability | None,
    place: int,
    value: str | None,
) -> AvailabilityGroup:
    whole, slots = None, None
    classes: Mapping[str, Amounts] = {}
    if moved is not None:
        whole, classes, slots = moved.whole, moved.classes, moved.slots
    return AvailabilityGroup(
        value=value,
        whole=_amounts(found.whole, whole, place),
        classes={
            name: _amounts(each, classes.get(name), place) for name, each in found.classes.items()
        },
        slots=None if found.slots is None else _amounts(found.slots, slots, place),
    )


def _amounts(found: Amounts, moved: Amounts | None, place: int) -> BucketAmounts:
    return BucketAmounts(
        free=found.free[place].tolist(),
        total=found.total[place].tolist(),
        free_if_moved=None if moved is None else moved.free[place].tolist(),
    )
