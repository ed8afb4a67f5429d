# SPDX-License-Identifier: Apache-2.0

"""A resource type of tests: slots of a few units on hosts, given by a ledger.

It shares the hosts with ``physical:host``, so that whole hosts and parts of
them are wanted by the same people at the same time. What the cloud would do is
written into a ledger, which fails on request.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any
from typing import ClassVar

from climate import exceptions
from climate.allocation import shares
from climate.cloud.base import Cloud
from climate.domain.leases import Allocation
from climate.domain.leases import Reservation
from climate.domain.resources import Spread
from climate.plugins import contract
from climate.plugins.host import plugin as host_plugin

RESOURCE_TYPE = 'test:slots'

Units = dict[tuple[int, str | None], int]
"""Units by resource id and class."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class SlotRequest:
    """Between so many and so many slots.

    :ivar demand: units by resource class of each
    :ivar contrary: whether a shrink gives up others than requested
    """

    minimum: int
    maximum: int
    demand: Mapping[str, int]
    spread: Spread
    contrary: bool


class Ledger:
    """What reservations have been given.

    :ivar given: units by reservation id
    :ivar troubles: what the next effects meet: ``(when, error)``, where *when*
        is ``before`` or ``after`` the work
    """

    def __init__(self) -> None:
        self.given: dict[str, Units] = {}
        self.troubles: collections.deque[tuple[str, exceptions.EffectError]] = collections.deque()

    def write(self, reservation_id: str, units: Units) -> None:
        """Give a reservation exactly so much."""
        trouble = self.troubles.popleft() if self.troubles else None
        if trouble is not None and trouble[0] == 'before':
            raise trouble[1]
        self.given[reservation_id] = units
        if not units:
            del self.given[reservation_id]
        if trouble is not None:
            raise trouble[1]


class Slots(contract.Plugin[SlotRequest]):
    """Leases slots."""

    resource_type: ClassVar[str] = RESOURCE_TYPE
    request_schema: ClassVar[Mapping[str, Any]] = {'type': 'object', 'properties': {}}

    def __init__(self) -> None:
        self.ledger = Ledger()

    @classmethod
    def from_conf(cls, conf: Any) -> Slots:
        """Return the plugin; nothing of it can be configured."""
        return cls()

    def parse(self, body: Mapping[str, Any], *, strict: bool = False) -> SlotRequest:
        """Read what a test sent."""
        return self.load(body)

    def change(
        self,
        request: SlotRequest,
        body: Mapping[str, Any],
        *,
        strict: bool = False,
        running: bool = False,
    ) -> SlotRequest:
        """Return *request* with changes; how it is spread is fixed once it runs."""
        changed = self.load({**self.dump(request), **body})
        if running and changed.spread is not request.spread:
            raise exceptions.CantUpdateParameter(param='spread')
        return changed

    def dump(self, request: SlotRequest) -> dict[str, Any]:
        """Return *request* as JSON values."""
        return {
            'min': request.minimum,
            'max': request.maximum,
            'demand': dict(request.demand),
            'spread': request.spread.value,
            'contrary': request.contrary,
        }

    def load(self, stored: Mapping[str, Any]) -> SlotRequest:
        """Return the request that :meth:`dump` wrote."""
        return SlotRequest(
            minimum=stored['min'],
            maximum=stored['max'],
            demand=stored['demand'],
            spread=Spread(stored['spread']),
            contrary=stored['contrary'],
        )

    def search(self, request: SlotRequest) -> contract.Search:
        """Say what the request can use."""
        return contract.Search(
            resource_type=host_plugin.RESOURCE_TYPE,
            minimum=request.minimum,
            maximum=request.maximum,
            noun='slots',
            demand=request.demand,
            spread=request.spread,
        )

    def describe(self, reservation: Reservation) -> dict[str, Any]:
        """Return what the API would show."""
        return dict(reservation.request)

    def start(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Give what is to be had, or what a contrary request keeps instead."""
        request = self.load(work.reservation.request)
        both = (*work.allocations, *work.leaving)
        # Something comes with a move: then only what was requested can go.
        shrinks = work.leaving and units(both) == self.ledger.given.get(work.reservation.id)
        if not (shrinks and request.contrary):
            self.ledger.write(work.reservation.id, units(work.allocations))
            return contract.Done()
        everything = shares.slots(both, request.demand)
        wanted = sum(shares.slots(work.allocations, request.demand).values())
        kept: dict[int, int] = {}
        for resource_id in sorted(everything):
            kept[resource_id] = min(everything[resource_id], wanted)
            wanted -= kept[resource_id]
        stays, _ = shares.cut(joined(both), request.demand, kept)
        self.ledger.write(work.reservation.id, units(stays))
        return contract.Done(kept=kept)

    def end(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Take everything back."""
        self.ledger.write(work.reservation.id, {})
        return contract.Done()


def units(allocations: Iterable[Allocation]) -> Units:
    """Add allocations up."""
    found: collections.Counter[tuple[int, str | None]] = collections.Counter()
    for item in allocations:
        found[item.resource_id, item.resource_class] += item.amount
    return dict(found)


def joined(allocations: Iterable[Allocation]) -> list[Allocation]:
    """Return one allocation for each resource and class."""
    found: dict[tuple[int, str | None], Allocation] = {}
    for item in allocations:
        key = (item.resource_id, item.resource_class)
        amount = item.amount + (found[key].amount if key in found else 0)
        found[key] = dataclasses.replace(item, amount=amount)
    return list(found.values())
