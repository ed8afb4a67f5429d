# SPDX-License-Identifier: Apache-2.0

"""A random history, after each step of which timelines are compared with all allocations."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import random
import types
from collections.abc import Collection
from typing import Any

import numpy as np
import sqlalchemy as sa

from climate import exceptions
from climate.allocation import capacity
from climate.allocation import selection
from climate.allocation import shares
from climate.allocation.blocks import Block
from climate.allocation.blocks import Bounds
from climate.allocation.capacity import Use
from climate.allocation.matches import Match
from climate.allocation.requirements import parse
from climate.allocation.steps import microseconds
from climate.booking.choosing import matching
from climate.booking.choosing.requirements import Requirements
from climate.booking.choosing.searches import Searches
from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import MAINTENANCES
from climate.db.timelines.reader import TimelineReader
from climate.db.timelines.timelines import Timelines
from climate.db.transactions.store import Transaction
from climate.domain.maintenances import MaintenanceDraft
from climate.domain.periods import Period
from climate.domain.resources import Candidate
from climate.domain.resources import Inventory
from climate.domain.resources import Room
from climate.leases.settings import LeasingSettings
from climate.plugins import contract
from climate.upkeep.maintenances import Maintenances
from tests.functional.db import cases
from tests.functional.db.plain_blocks import plain

ANY = Match(resource_type=cases.TYPE)
PAUSE = datetime.timedelta(minutes=30)
INVENTORIES = (
    Inventory(resource_class='VCPU', total=8, reserved=1, allocation_ratio=1.5, max_unit=8),
    Inventory(resource_class='MEMORY_MB', total=64, min_unit=2, step_size=2, max_unit=64),
)
KEYS = ('vcpus', 'zone')
_ATTRIBUTES = {'vcpus': 8, 'zone': 'a'}
_OTHERS = {'capabilities': {'zone': 'b'}, 'traits': frozenset({'FAST'})}
FACTS: dict[str, Any] = {'attributes': _ATTRIBUTES, **_OTHERS}
REQUIREMENTS = (
    '',
    '["==", "$vcpus", "8"]',
    '[">", "$zone", "9"]',
    '["!=", "$zone", "a"]',
    '["not", ["==", "$zone", "b"]]',
    '["and", ["<=", "$vcpus", "1.10.2"], ["or", [">", "$zone", "b"], ["<", "$vcpus", "16"]]]',
    '["or", ["trait", "FAST"], ["and", ["not", ["trait", "SLOW"]], ["!=", "$zone", "b"]]]',
)
DEMANDS = ({}, {'VCPU': 1}, {'VCPU': 2, 'MEMORY_MB': 8}, {'MEMORY_MB': 2})


class HistoryCase:
    """A random history of committed changes, each looked at in two ways.

    :cvar comparisons: at least so many
    :cvar seed: of what happens
    """

    comparisons = 1500
    seed = 7

    def setUp(self) -> None:
        super().setUp()
        self.timelines = Timelines(PAUSE)
        self.store.timelines = self.timelines
        self.rng = random.Random(self.seed)
        self.hosts = self.add_hosts(5, inventories=INVENTORIES, **FACTS)
        self.compared = 0
        self.booked: list[str] = []
        self.maintenances: list[str] = []

    def blocks(self, timelines: Timelines | None = None) -> list[Block]:
        """Return the timeline of hosts as a new transaction sees it."""
        with self.store.reading() as tx:
            reader = TimelineReader(tx.session, tx.now)
            return (timelines or self.timelines).current(reader, cases.TYPE, tx.now)

    def test_a_history(self) -> None:
        changes = [self.book_some, self.book_some, self.release, self.maintain]
        changes += [self.end_maintenance, self.disable, self.fail, self.restock]
        changes += [self.replace_host, self.give_back, self.describe, self.hide, self.wait]
        while self.compared < self.comparisons:
            self.rng.choice(changes)()
            self.compare()

    @property
    def elapsed(self) -> int:
        """The hours that have passed, rounded up."""
        return -(-(self.clock.now() - cases.NOW) // cases.HOUR)

    def same(self, expected: Any, found: Any, *about: Any) -> None:
        """Compare two answers."""
        self.assertEqual(expected, found, about)
        self.compared += 1

    def compare(self) -> None:
        """Compare what is kept with what is read at once, and with each allocation."""
        kept, fresh = self.blocks(), self.blocks(Timelines(PAUSE))
        since = microseconds(self.clock.now() - PAUSE)
        self.same(*([plain(block, since) for block in each] for each in (fresh, kept)))
        for _ in range(3):
            # No search looks at the past.
            first = self.elapsed + self.rng.randrange(12)
            period = cases.hours(first, first + self.rng.randrange(1, 6))
            self.compare_candidates(kept, period)
            for demand in DEMANDS:
                with self.store.reading() as tx:
                    expected = _by_hand(tx, demand, period)
                self.same(expected, _by_timeline(kept, demand, period), demand)
                if demand:
                    self.compare_without_own(demand, period)
        self.compare_requirements(kept)

    def compare_without_own(self, demand: dict[str, int], period: Period) -> None:
        """Compare what is free if some reservations do not count."""
        own = self.rng.sample(self.booked, min(len(self.booked), 2))
        nothing: Any = types.SimpleNamespace(things=lambda _request: ())
        one = {'minimum': 1, 'maximum': 1}
        periods = {'period': period, 'padded': period.padded(PAUSE)}
        search = contract.Search(resource_type=cases.TYPE, **one, demand=demand)
        facts = {'plugin': nothing, 'request': None, 'private': False}
        needed = Requirements(search=search, **facts, **periods, **one)
        with self.store.reading() as tx:
            expected = _by_hand(tx, demand, period, own)
            rooms = Searches(tx, LeasingSettings(), self.rng, own).every_room(needed)
        self.same(expected, _by_rooms(rooms, demand), (demand, own))

    def compare_requirements(self, kept: list[Block]) -> None:
        """Compare the hosts that match a requirement."""
        for _ in range(3):
            match = dataclasses.replace(
                ANY,
                requirement=parse(self.rng.choice(REQUIREMENTS)),
                required_traits=self.rng.choice([(), ('FAST',)]),
                forbidden_traits=self.rng.choice([(), ('SLOW',)]),
                private=self.rng.random() < 0.5,
            )
            with self.store.reading() as tx:
                ids = [int(key) for block in kept for key in block.ids]
                expected = sorted(tx.search.matching(match, ids, bookable=True))
                hidden = () if match.private else tx.properties.private_names(cases.TYPE)
            found = [
                int(number)
                for block in kept
                for number in block.ids[block.bookable & matching.rows(block, match, hidden)]
            ]
            self.same(expected, found, match)

    def compare_candidates(self, kept: list[Block], period: Period) -> None:
        """Compare the free hosts with their holes; the order is that of the choice."""
        with self.store.reading() as tx:
            starts = _first_starts(tx, period)
            # Where parts overlap, SQL takes the start of the one that ends first.
            ids = [int(key) for block in kept for key in block.ids]
            expected = [
                dataclasses.replace(item, busy_from=starts.get(item.resource_id))
                for item in tx.search.among(ids, ANY, period.padded(PAUSE))
            ]
        now = microseconds(self.clock.now())
        candidates = selection.wholes(kept, _bounds(period), now, self.rng).candidates(now, 100)
        self.same(expected, sorted(candidates, key=lambda item: item.resource_id))
        one = shares.choose(expected, period.start, period.end, 0, 1, random.Random(1))
        best = [_hole(share.candidate, period) for share in one]
        self.same(best, [_hole(item, period) for item in candidates[:1]])

    # -- changes

    def book_some(self) -> None:
        """Book a host or parts of it; most bookings are added to the timeline, not read."""
        lease = cases.lease()
        host = self.rng.choice(self.hosts)
        first = self.elapsed + self.rng.randrange(12)
        period = cases.hours(first, first + self.rng.randrange(1, 5))
        classes = self.rng.choice([['VCPU'], ['VCPU', 'MEMORY_MB'], ['MEMORY_MB'], [None]])
        in_memory = self.rng.random() < 0.7

        def write(tx: Transaction) -> None:
            if in_memory:
                tx.timeline(cases.TYPE, tx.now)
            writer = tx.book([host], pause=PAUSE)
            tx.leases.insert(lease)
            tx.reservations.insert(lease.reservations)
            mine = lease.reservations[0].id
            writer.insert(
                [
                    cases.allocation(mine, host, period, name, amount=2 if name else 1)
                    for name in classes
                ]
            )

        try:
            self.store.run(write)
        except exceptions.ClimateError:
            return
        self.booked.append(lease.reservations[0].id)

    def release(self) -> None:
        """Release a reservation."""
        if self.booked:
            reservation_id = self.booked.pop(self.rng.randrange(len(self.booked)))
            self.store.run(lambda tx: tx.allocations.release([reservation_id]))

    def give_back(self) -> None:
        """Release one unit of what a reservation has begun to use; the rest is removed."""
        if self.booked:
            reservation_id = self.rng.choice(self.booked)

            def write(tx: Transaction) -> None:
                found = tx.allocations.live_of([reservation_id])
                used = [item for item in found if item.period.start <= tx.now]
                tx.allocations.give_back({item.id: 1 for item in used})

            self.store.run(write)

    def maintain(self) -> None:
        """Announce a maintenance."""
        number = f'm{len(self.maintenances)}-{self.rng.random()}'
        host = self.rng.choice(self.hosts)
        first = self.rng.randrange(12)
        period = cases.hours(first, first + 2)

        def write(tx: Transaction) -> None:
            tx.resources.touch(host)
            tx.maintenances.insert(number, host, MaintenanceDraft(period=period, reason=''), 'u')

        self.store.run(write)
        self.maintenances.append(number)

    def end_maintenance(self) -> None:
        """Cancel a maintenance."""
        if self.maintenances:
            Maintenances(self.store, wake=lambda: None).delete(self.maintenances.pop())

    def disable(self) -> None:
        """Disable a host, or enable it."""
        host, disabled = self.rng.choice(self.hosts), self.rng.random() < 0.5
        self.store.run(lambda tx: tx.catalogue.set_disabled(host, disabled))

    def fail(self) -> None:
        """Let a host fail, or recover."""
        host = self.rng.choice(self.hosts)
        if self.rng.random() < 0.5:
            self.store.run(lambda tx: tx.failures.fail([host]))
        else:
            self.store.run(lambda tx: tx.failures.recover([host], tx.now))

    def restock(self) -> None:
        """Change an inventory, as far as what is booked allows."""
        host, total = self.rng.choice(self.hosts), self.rng.randrange(4, 12)
        new = (dataclasses.replace(INVENTORIES[0], total=total), *INVENTORIES[1:])
        with contextlib.suppress(exceptions.ClimateError):
            self.store.run(lambda tx: tx.book([host]).restock(host, new))

    def replace_host(self) -> None:
        """Delete a host that is not reserved, and register another one in its place."""
        host = self.rng.choice(self.hosts)

        def write(tx: Transaction) -> int:
            if tx.allocations.in_use(host):
                return host
            tx.resources.delete(host)
            name = f'compute-{self.rng.random()}'
            return tx.resources.insert(
                dataclasses.replace(cases.host(1, inventories=INVENTORIES), name=name)
            )

        self.hosts[self.hosts.index(host)] = self.store.run(write)

    def describe(self) -> None:
        """Change a property of a host, or remove it."""
        host, name = self.rng.choice(self.hosts), self.rng.choice(KEYS)
        value = self.rng.choice(['8', '8.0', '16', 'a', 'é', '1.10.2', None])

        def write(tx: Transaction) -> None:
            tx.properties.set_capability(host, name, value)
            tx.properties.register(cases.TYPE, [name])
            tx.resources.touch(host)

        self.store.run(write)

    def hide(self) -> None:
        """Hide a property from other projects, or show it."""
        name, private = self.rng.choice(KEYS), self.rng.random() < 0.5

        def write(tx: Transaction) -> None:
            tx.properties.register(cases.TYPE, [name])
            tx.properties.set_private(cases.TYPE, name, private)

        self.store.run(write)

    def wait(self) -> None:
        """Let some time pass."""
        self.clock.advance(60 * self.rng.randrange(40))


def _hole(candidate: Candidate, period: Period) -> tuple[Any, ...]:
    """Return how well a host fits."""
    sides = (
        candidate.busy_until and period.start - candidate.busy_until,
        candidate.busy_from and candidate.busy_from - period.end,
    )
    known = [side for side in sides if side is not None]
    return 2 - len(known), sum(known, datetime.timedelta(0))


def _bounds(period: Period) -> Bounds:
    padded = period.padded(PAUSE)
    return Bounds(
        start=microseconds(period.start),
        end=microseconds(period.end),
        clear_start=microseconds(padded.start),
        clear_end=microseconds(padded.end),
    )


def period_of(row: Any) -> Period:
    """Return the period of an allocation."""
    return Period(start=row.start_date, end=row.end_date)


def _first_starts(tx: Transaction, period: Period) -> dict[int, datetime.datetime]:
    """Return when the first allocation after a period starts, by resource."""
    query = (
        sa.select(ALLOCATIONS.c.resource_id, sa.func.min(ALLOCATIONS.c.start_date))
        .where(ALLOCATIONS.c.live == 1, ALLOCATIONS.c.end_date > period.padded(PAUSE).end)
        .group_by(ALLOCATIONS.c.resource_id)
    )
    return {row.resource_id: row[1] for row in tx.session.execute(query)}


def _by_timeline(blocks: list[Block], demand: dict[str, int], period: Period) -> dict[int, int]:
    found = {}
    for block in blocks:
        slots = block.slots(demand, _bounds(period))
        found.update({int(block.ids[row]): int(slots[row]) for row in np.flatnonzero(slots)})
    return found


def _by_rooms(rooms: list[Room], demand: dict[str, int]) -> dict[int, int]:
    return {
        room.resource_id: min(room.left[name] // demand[name] for name in room.left)
        for room in rooms
    }


def _by_hand(
    tx: Transaction, demand: dict[str, int], period: Period, own: Collection[str] = ()
) -> dict[int, int]:
    """Return how often *demand* fits on each host, by looking at all its allocations.

    :param own: ids of reservations that do not count
    """
    padded = period.padded(PAUSE)
    away = period if demand else padded
    allocations = tx.session.execute(
        sa.select(ALLOCATIONS).where(ALLOCATIONS.c.reservation_id.not_in([*own, '']))
    ).all()
    maintenances = tx.session.execute(sa.select(MAINTENANCES)).all()
    found = {}
    for host in tx.resources.of_type(cases.TYPE):
        mine = [row for row in allocations if row.resource_id == host.id]
        live = [row for row in mine if row.live]
        # What was released is cleaned, and has ended by now.
        whole = [row for row in mine if not demand or row.resource_class is None]
        if (
            not host.reservable
            or host.disabled
            or host.failed_at is not None
            or any(_overlaps(row, padded) for row in whole)
            or any(_overlaps(row, away) for row in maintenances if row.resource_id == host.id)
        ):
            continue
        uses = [
            Use(period=period_of(row), resource_class=row.resource_class, amount=row.amount)
            for row in live
        ]
        count = capacity.slots(host.inventories, demand, uses, period) if demand else 1
        if count:
            found[host.id] = count
    return found


def _overlaps(row: Any, period: Period) -> bool:
    return bool(row.end_date > period.start and row.start_date < period.end)
