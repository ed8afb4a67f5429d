# SPDX-License-Identifier: Apache-2.0

"""Estimates how long preemptible leases take to yield."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from collections import Counter
from collections.abc import Iterator

from climate.booking.requests.context import Context
from climate.db.transactions.store import Transaction
from climate.domain import yield_times
from climate.domain.leases import Lease
from climate.domain.leases import YieldMode
from climate.domain.yield_times import YieldTime


class EstimateSource(enum.StrEnum):
    """Where an estimate comes from.

    ``option``: the operator has set it; ``learnt``: from leases that have yielded; ``default``:
    of the resource type, since too few have yielded.
    """

    OPTION = 'option'
    LEARNT = 'learnt'
    DEFAULT = 'default'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """How long it takes to give up what a lease has of one resource type."""

    seconds: int
    source: EstimateSource


class Estimator:
    """Estimates, in one transaction."""

    def __init__(self, tx: Transaction, context: Context) -> None:
        self._tx = tx
        self._plugins = context.plugins
        self._settings = context.settings
        self._set = dict(context.settings.yield_seconds)
        self._last: dict[tuple[str, YieldMode], list[YieldTime]] = {}

    def of_lease(self, lease: Lease) -> datetime.timedelta:
        """Return how long a preemptible lease takes to yield.

        What was learnt of each type includes the wait for the others. What is part of another
        reservation is given up with that.
        """
        assert lease.yields is not None
        numbers, units = Counter[str](), Counter[str]()
        for one in lease.reservations:
            if one.part_of is None:
                numbers[one.resource_type] += 1
                plugin = self._plugins[one.resource_type]
                units[one.resource_type] += plugin.yield_units(plugin.load(one.request))
        longest, more = 0, 0
        for resource_type, number in numbers.items():
            found = self.of(resource_type, lease.yields, units[resource_type], number)
            if found.source is EstimateSource.LEARNT:
                longest = max(longest, found.seconds)
            else:
                more += found.seconds
        return datetime.timedelta(seconds=longest + more)

    def of(
        self, resource_type: str, mode: YieldMode, units: int = 1, reservations: int = 1
    ) -> Estimate:
        """Return how long it takes to give up reservations of a resource type.

        :param units: how much they have
        """
        if resource_type in self._set:
            return Estimate(
                seconds=self._set[resource_type] * reservations, source=EstimateSource.OPTION
            )
        seconds = yield_times.learnt(
            self.known(resource_type, mode), units, self._settings.yield_quantile
        )
        if seconds is not None:
            return Estimate(seconds=seconds, source=EstimateSource.LEARNT)
        seconds = self._plugins[resource_type].yield_seconds * reservations
        return Estimate(seconds=seconds, source=EstimateSource.DEFAULT)

    def known(self, resource_type: str, mode: YieldMode) -> list[YieldTime]:
        """Return the times from which that is learnt, the latest first."""
        key = (resource_type, mode)
        if key not in self._last:
            number = self._settings.yield_samples
            self._last[key] = self._tx.yield_times.last(*key, number) if number else []
        return self._last[key]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PlannedYield:
    """How long it takes to give up one unit of a resource type.

    :ivar mode: None if no lease with resources of the type has yielded
    :ivar known: from how many leases it was learnt, or would be
    """

    resource_type: str
    mode: YieldMode | None
    estimate: Estimate
    known: int


def planned(tx: Transaction, context: Context) -> Iterator[PlannedYield]:
    """Yield what plans assume of each resource type that takes time to yield."""
    estimator, plugins = Estimator(tx, context), context.plugins
    seen = [(name, mode) for name, mode in tx.yield_times.known() if name in plugins]
    rest = {name for name in plugins if plugins[name].yield_seconds}
    rest |= dict(context.settings.yield_seconds).keys() & plugins.keys()
    for resource_type, mode in seen:
        yield PlannedYield(
            resource_type=resource_type,
            mode=mode,
            estimate=estimator.of(resource_type, mode),
            known=len(estimator.known(resource_type, mode)),
        )
    for resource_type in sorted(rest - {name for name, _ in seen}):
        found = estimator.of(resource_type, YieldMode.END)
        yield PlannedYield(resource_type=resource_type, mode=None, estimate=found, known=0)
