# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Timelines in memory, against the search by SQL and against timelines read at once."""

from __future__ import annotations

import dataclasses
import datetime
import random
from typing import Any

import numpy as np

from climate.allocation import selection
from climate.allocation import shares
from climate.allocation.blocks import Block
from climate.allocation.blocks import Bounds
from climate.allocation.steps import microseconds
from climate.db.rooms import Window
from climate.db.search import Match
from climate.db.store import Transaction
from climate.db.timelines import TimelineReader
from climate.db.timelines import Timelines
from climate.domain.leases import Allocation
from climate.domain.maintenances import MaintenanceDraft
from climate.domain.resources import Candidate
from climate.domain.resources import Inventory
from climate.upkeep.maintenances import Maintenances
from tests import services
from tests.functional.db import cases
from tests.functional.db import plans

ANY = Match(resource_type=cases.TYPE)
PAUSE = datetime.timedelta(minutes=30)
INVENTORIES = (
    Inventory(resource_class='VCPU', total=8, reserved=1, allocation_ratio=1.5, max_unit=8),
    Inventory(resource_class='MEMORY_MB', total=64, min_unit=2, step_size=2, max_unit=64),
)
DEMANDS = ({}, {'VCPU': 1}, {'VCPU': 2, 'MEMORY_MB': 8}, {'MEMORY_MB': 2})


class TimelinesCase:
    """A random history of committed changes, each looked at both ways."""

    def setUp(self) -> None:
        super().setUp()
        self.timelines = Timelines(PAUSE)
        self.rng = random.Random(7)
        self.hosts = self.add_hosts(5, inventories=INVENTORIES)
        self.booked: list[str] = []
        self.maintenances: list[str] = []

    def blocks(self, timelines: Timelines | None = None) -> list[Block]:
        """Return the timeline of hosts as a new transaction sees it."""
        with self.store.reading() as tx:
            return (timelines or self.timelines).current(
                TimelineReader(tx.session, tx.now), cases.TYPE
            )

    def test_a_history(self) -> None:
        changes = [
            self.book_some,
            self.book_some,
            self.release,
            self.maintain,
            self.end_maintenance,
            self.disable,
            self.fail,
            self.restock,
            self.replace_host,
            self.give_back,
            self.wait,
        ]
        for _ in range(60):
            self.rng.choice(changes)()
            self.compare()

    def compare(self) -> None:
        """Compare what is kept with what is read at once, and with SQL."""
        kept, fresh = self.blocks(), self.blocks(Timelines(PAUSE))
        since = microseconds(self.clock.now() - PAUSE)
        self.assertEqual(*([_plain(block, since) for block in each] for each in (fresh, kept)))
        for _ in range(3):
            first = self.rng.randrange(12)
            period = cases.hours(first, first + self.rng.randrange(1, 6))
            window = Window(period=period, padded=period.padded(PAUSE))
            self.compare_candidates(kept, window)
            for demand in DEMANDS:
                with self.store.reading() as tx:
                    expected = _by_sql(tx, demand, window)
                self.assertEqual(expected, _by_timeline(kept, demand, window), demand)

    def compare_candidates(self, kept: list[Block], window: Window) -> None:
        """Compare the free hosts with their holes; the order is that of the choice."""
        with self.store.reading() as tx:
            expected = tx.search.free(ANY, window.padded, limit=100)
        now = microseconds(self.clock.now())
        found = selection.wholes(kept, _bounds(window), now, self.rng)
        candidates = found.candidates(_bounds(window), now, 100)
        self.assertEqual(expected, sorted(candidates, key=lambda item: item.resource_id))
        one = shares.choose(
            expected, window.period.start, window.period.end, 0, 1, random.Random(1)
        )
        best = [_hole(share.candidate, window) for share in one]
        self.assertEqual(best, [_hole(item, window) for item in candidates[:1]])

    # -- changes

    def book_some(self) -> None:
        """Book a host or a part of it, as the service does; what does not fit is refused."""
        lease = cases.lease()
        host = self.rng.choice(self.hosts)
        first = self.rng.randrange(12)
        period = cases.hours(first, first + self.rng.randrange(1, 5))
        name = self.rng.choice(['VCPU', 'VCPU', 'MEMORY_MB', None])

        def write(tx: Transaction) -> None:
            books = tx.book([host], pause=PAUSE)
            tx.leases.insert(lease)
            tx.reservations.insert(lease.reservations)
            books.insert(
                [
                    Allocation(
                        reservation_id=lease.reservations[0].id,
                        resource_id=host,
                        period=period,
                        resource_class=name,
                        amount=2 if name else 1,
                    )
                ]
            )

        try:
            self.store.run(write)
        except Exception:
            return
        self.booked.append(lease.reservations[0].id)

    def release(self) -> None:
        """Release a reservation."""
        if self.booked:
            reservation_id = self.booked.pop(self.rng.randrange(len(self.booked)))
            self.store.run(lambda tx: tx.allocations.release([reservation_id]))

    def give_back(self) -> None:
        """Release one unit of a reservation."""
        if self.booked:
            reservation_id = self.rng.choice(self.booked)

            def write(tx: Transaction) -> None:
                found = tx.allocations.live_of([reservation_id])
                tx.allocations.give_back({item.id: 1 for item in found})

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
        try:
            self.store.run(lambda tx: tx.book([host]).restock(host, new))
        except Exception:
            return

    def replace_host(self) -> None:
        """Delete a host that nobody has, and register another one in its place."""
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

    def wait(self) -> None:
        """Let some time pass."""
        self.clock.advance(60 * self.rng.randrange(40))

    # -- what else may happen

    def test_what_is_current_is_not_read_again(self) -> None:
        first = self.blocks()
        self.assertIs(first[0], self.blocks()[0])

    def test_one_host_of_many_is_read_alone(self) -> None:
        self.blocks()
        host = self.hosts[2]
        self.store.run(lambda tx: tx.resources.touch(host))
        with self.store.reading() as tx:
            reader = TimelineReader(tx.session, tx.now)
            with plans.captured(self.store.engine) as statements:
                self.timelines.current(reader, cases.TYPE)
        asked = [each.parameters for each in statements if 'FROM allocations' in each.text]
        self.assertEqual(2, len(asked))
        for parameters in asked:
            values = parameters.values() if isinstance(parameters, dict) else parameters
            self.assertIn(host, list(values))
            self.assertNotIn(self.hosts[-1], list(values))

    def test_no_resources(self) -> None:
        with self.store.reading() as tx:
            reader = TimelineReader(tx.session, tx.now)
            self.assertEqual([], self.timelines.current(reader, 'virtual:floatingip'))


def _hole(candidate: Candidate, window: Window) -> tuple[Any, ...]:
    """Return how well a host fits."""
    sides = (
        candidate.busy_until and window.period.start - candidate.busy_until,
        candidate.busy_from and candidate.busy_from - window.period.end,
    )
    known = [side for side in sides if side is not None]
    return 2 - len(known), sum(known, datetime.timedelta(0))


def _plain(block: Block, since: int) -> dict[str, Any]:
    """Return a block as lists, without releases before *since*, which no longer matter."""
    found: dict[str, Any] = {}
    for field in dataclasses.fields(block):
        value = getattr(block, field.name)
        if field.name == 'periods':
            # In no particular order.
            value = {
                name: sorted(zip(uses.rows, uses.starts, uses.ends, uses.amounts, strict=True))
                for name, uses in value.items()
            }
        elif field.name in ('supplies', 'used'):
            value = {
                name: [getattr(item, each.name) for each in dataclasses.fields(item)]
                for name, item in value.items()
            }
        elif dataclasses.is_dataclass(value):
            value = [getattr(value, each.name) for each in dataclasses.fields(value)]
        elif field.name in ('returned', 'returned_whole'):
            value = np.where(value > since, value, 0)
        found[field.name] = _listed(value)
    return found


def _listed(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {name: _listed(each) for name, each in value.items()}
    return [_listed(each) for each in value] if isinstance(value, list) else value


def _bounds(window: Window) -> Bounds:
    return Bounds(
        start=microseconds(window.period.start),
        end=microseconds(window.period.end),
        clear_start=microseconds(window.padded.start),
        clear_end=microseconds(window.padded.end),
    )


def _by_timeline(blocks: list[Block], demand: dict[str, int], window: Window) -> dict[int, int]:
    found = {}
    for block in blocks:
        slots = block.slots(demand, _bounds(window))
        found.update({int(block.ids[row]): int(slots[row]) for row in np.flatnonzero(slots)})
    return found


def _by_sql(tx: Transaction, demand: dict[str, int], window: Window) -> dict[int, int]:
    if not demand:
        found = tx.search.free(ANY, window.padded, limit=100)
        return {item.resource_id: 1 for item in found}
    rooms = tx.rooms.find(ANY, demand, window)
    slots = {
        room.resource_id: min(room.left[name] // demand[name] for name in room.left)
        for room in rooms
    }
    return {host: count for host, count in slots.items() if count > 0}


class TestSqlite(TimelinesCase, cases.StoreCase):
    """On SQLite."""


class TestMariadb(TimelinesCase, cases.StoreCase):
    """On MariaDB."""

    kind = services.MARIADB


class TestPostgresql(TimelinesCase, cases.StoreCase):
    """On PostgreSQL."""

    kind = services.POSTGRESQL
