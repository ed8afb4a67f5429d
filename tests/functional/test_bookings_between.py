# SPDX-License-Identifier: Apache-2.0

"""A booking that commits while another one chooses is never overlooked.

Each test interleaves two transactions in one way only, so that it fails each
time or never: one chooses, another books meanwhile, the first one writes.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from climate import exceptions
from climate.booking.choosing.choose import LostRace
from climate.booking.leases import Leases
from climate.booking.requests import new_leases
from climate.booking.requests.context import Context
from climate.booking.writing.change import Changed
from climate.booking.writing.change import ChangeRequest
from climate.booking.writing.change import ChangeWork
from climate.booking.writing.create import Chosen
from climate.booking.writing.create import NewLeaseWork
from climate.booking.writing.move import Mover
from climate.db.booking.writer import NotLocked
from climate.db.transactions.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.domain.maintenances import MaintenanceDraft
from climate.domain.periods import Period
from climate.domain.requests import Caller
from climate.domain.requests import LeaseChange
from climate.domain.requests import LeaseDraft
from climate.domain.requests import ReservationChange
from climate.domain.resources import Inventory
from climate.leases.settings import LeasingSettings
from climate.plugins import contract as plugins_base
from climate.plugins.host.plugin import PhysicalHost
from climate.upkeep.maintenances import Maintenances
from tests import services
from tests.databases import fetch
from tests.functional.db import cases
from tests.functional.manager import slots
from tests.functional.manager import yard

CALLER = Caller(user_id='u', project_id='p')
SETTINGS = LeasingSettings()
STOCK = (
    Inventory(resource_class='DISK_GB', total=500),
    Inventory(resource_class='VCPU', total=8),
    Inventory(resource_class='MEMORY_MB', total=64),
)
MUCH = yard.parts(1, {'DISK_GB': 300})
LITTLE = yard.parts(1, {'DISK_GB': 1})
OTHER = yard.parts(1, {'VCPU': 1})
BOTH = yard.parts(1, {'VCPU': 1, 'MEMORY_MB': 1})


class Interrupted(slots.Slots):
    """Slots whose choice is interrupted.

    :ivar meanwhile: done once, after so many choices that found something
    """

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: Callable[[], object] | None = None
        self.after = 0

    def choose(self, request: Any, snapshot: Any, rng: random.Random) -> Any:
        """Choose as others do, then have something happen."""
        found = super().choose(request, snapshot, rng)
        self.after -= not isinstance(found, plugins_base.NotEnough)
        if self.meanwhile is not None and self.after <= 0:
            meanwhile, self.meanwhile = self.meanwhile, None
            meanwhile()
        return found


class Between:
    """One host, one booker who is interrupted by another."""

    # The rules of the database would refuse most of it first.
    guarded = False

    def setUp(self) -> None:
        super().setUp()
        self.plugin = Interrupted()
        self.plugins: dict[str, plugins_base.Plugin[Any]] = {
            slots.RESOURCE_TYPE: self.plugin,
            'physical:host': PhysicalHost(),
        }
        self.leases = Leases(
            self.store, self.plugins, self.clock, SETTINGS, lambda: None, random.Random(5)
        )
        self.context = Context(
            store=self.store,
            plugins=self.plugins,
            clock=self.clock,
            settings=SETTINGS,
            wake=lambda: None,
            rng=random.Random(1),
        )
        (self.host,) = self.add_hosts(1, inventories=STOCK)
        self.addCleanup(self.assert_within_capacity)

    def assert_within_capacity(self) -> None:
        """Add up all that was booked of the classes; all of it is at the same time."""
        taken = fetch(self.store, lambda tx: tx.allocations.calendar())
        for stock in STOCK:
            for at in (one.period.start for one in taken):
                used = sum(
                    one.amounts.get(stock.resource_class, 0)
                    for one in taken
                    if one.resource_id == self.host and one.period.start <= at < one.period.end
                )
                self.assertLessEqual(used, stock.total, (stock.resource_class, at))

    def draft(
        self, bodies: Sequence[Mapping[str, Any]], start: float = 1, end: float = 2
    ) -> LeaseDraft:
        return LeaseDraft(
            name='l', start=cases.at(start), end=cases.at(end), reservations=tuple(bodies)
        )

    def book_for(self, *bodies: Mapping[str, Any], start: float = 1, end: float = 2) -> Lease:
        return self.leases.create(CALLER, self.draft(bodies, start, end))

    def interrupt(self, after: int, meanwhile: Callable[[], object]) -> None:
        self.plugin.after, self.plugin.meanwhile = after, meanwhile

    def running(self, lease: Lease) -> Lease:
        """Have a lease run from now on."""
        self.clock.move_to(lease.period.start)

        def write(tx: Transaction) -> None:
            tx.allocations.mark_held([item.id for item in lease.reservations])
            tx.leases.update(dataclasses.replace(lease, status=LeaseStatus.ACTIVE))

        self.store.run(write)
        return lease

    def changed(
        self, lease: Lease, end: float | None = None, body: Mapping[str, Any] | None = None
    ) -> ChangeRequest:
        ids = [item.id for item in lease.reservations]
        wanted = LeaseChange(
            end=None if end is None else cases.at(end),
            reservations=() if body is None else (ReservationChange(id=ids[0], body=body),),
        )
        return ChangeRequest(caller=CALLER, lease_id=lease.id, project_id='p', change=wanted)

    # -- leases of several reservations

    def work(self, draft: LeaseDraft) -> NewLeaseWork:
        new = new_leases.checked(self.context, CALLER, draft)
        return NewLeaseWork(context=self.context, caller=CALLER, new=new)

    def chosen(self, tx: Transaction, work: NewLeaseWork) -> Chosen:
        found = work.choose(tx)
        assert isinstance(found, Chosen)
        return found

    def assert_create_loses(self, after: int, *bodies: Mapping[str, Any]) -> None:
        work = self.work(self.draft(bodies))
        self.interrupt(after, lambda: self.book_for(MUCH))
        try:
            chosen = fetch(self.store, lambda tx: self.chosen(tx, work))
        except exceptions.NotEnoughResources:
            # A later read of the choice has seen it, where one can.
            self.assertNotEqual(services.SQLITE, self.kind)
        else:
            self.assertRaises(LostRace, self.store.run, lambda tx: work.write(tx, chosen))
        # And to choose again is answered as if there had been no race.
        self.assertRaises(exceptions.NotEnoughResources, self.book_for, *bodies)

    def test_one_reservation(self) -> None:
        self.assert_create_loses(1, MUCH)

    def test_two_reservations_of_one_class(self) -> None:
        self.assert_create_loses(1, MUCH, LITTLE)

    def test_two_reservations_of_different_classes(self) -> None:
        self.assert_create_loses(1, MUCH, OTHER)

    def test_two_reservations_whose_demands_overlap(self) -> None:
        self.assert_create_loses(1, yard.parts(1, {'DISK_GB': 300, 'VCPU': 1}), BOTH)

    def test_five_reservations(self) -> None:
        for after in (1, 3, 5):
            with self.store.engine.begin() as connection:
                for name in ('allocations', 'steps', 'events', 'outbox', 'reservations', 'leases'):
                    connection.execute(cases.migration.metadata().tables[name].delete())
            self.store.run(lambda tx: tx.resources.touch(self.host))
            self.assert_create_loses(after, MUCH, OTHER, BOTH, LITTLE, OTHER)

    def test_a_whole_host_and_parts(self) -> None:
        work = self.work(self.draft([yard.hosts(1)]))
        chosen = fetch(self.store, lambda tx: self.chosen(tx, work))
        self.book_for(LITTLE, start=1.5, end=3)
        self.assertRaises(LostRace, self.store.run, lambda tx: work.write(tx, chosen))

    def test_what_is_booked_for_another_time_or_class_is_in_nobodys_way(self) -> None:
        work = self.work(self.draft([MUCH, OTHER]))
        self.interrupt(1, lambda: (self.book_for(MUCH, start=2, end=3), self.book_for(BOTH)))
        chosen = fetch(self.store, lambda tx: self.chosen(tx, work))
        self.store.run(lambda tx: work.write(tx, chosen))

    # -- changes

    def assert_change_loses(self, update: ChangeRequest, meanwhile: Callable[[], object]) -> None:
        with self.store.reading() as tx:
            work = ChangeWork(context=self.context, caller=CALLER, new=update)
            changed = work.choose(tx)
        assert isinstance(changed, Changed)
        meanwhile()
        self.assertRaises(LostRace, self.store.run, lambda tx: self.write_later(tx, work, changed))

    def write_later(self, tx: Transaction, work: ChangeWork, changed: Changed) -> None:
        """Write a change in another transaction than that of the choice."""
        work.recheck(tx, changed)
        work.write(tx, changed)

    def test_other_dates(self) -> None:
        lease = self.book_for(MUCH, OTHER)
        self.assert_change_loses(
            self.changed(lease, end=4), lambda: self.book_for(MUCH, start=3, end=4)
        )

    def test_other_dates_of_a_whole_host(self) -> None:
        lease = self.book_for(yard.hosts(1))
        self.assert_change_loses(
            self.changed(lease, end=4), lambda: self.book_for(LITTLE, start=3, end=4)
        )

    def test_a_running_lease_lasts_longer(self) -> None:
        lease = self.running(self.book_for(MUCH, OTHER))
        self.assert_change_loses(
            self.changed(lease, end=4), lambda: self.book_for(MUCH, start=3, end=4)
        )

    def test_a_running_lease_lasts_longer_and_grows(self) -> None:
        lease = self.running(self.book_for(LITTLE, OTHER))
        update = self.changed(lease, end=4, body={'min': 300, 'max': 300})
        self.assert_change_loses(update, lambda: self.book_for(MUCH, start=3, end=4))

    def test_other_amounts(self) -> None:
        update = self.changed(self.book_for(LITTLE, OTHER), body={'min': 300, 'max': 300})
        self.assert_change_loses(update, lambda: self.book_for(MUCH))

    def test_a_maintenance_is_announced(self) -> None:
        for running in (False, True):
            lease = self.book_for(OTHER, start=self.hour(), end=self.hour() + 1)
            if running:
                self.running(lease)
            end = self.hour() + 3
            announced = self.hour() + 2
            self.assert_change_loses(
                self.changed(lease, end=end), lambda at=announced: self.maintain(at, at + 1)
            )
            self.clock.advance(36_000)

    def hour(self) -> float:
        return (self.clock.now() - cases.NOW) / cases.HOUR + 1

    def maintain(self, start: float, end: float, host: int | None = None) -> None:
        draft = MaintenanceDraft(
            resource_id=host or self.host, period=cases.hours(start, end), reason='dust'
        )
        Maintenances(self.store, lambda: None).create(CALLER, draft)

    # -- what is not to be had any more

    def test_a_host_is_closed(self) -> None:
        closing: list[Callable[[Transaction], object]] = [
            lambda tx: tx.resources.set_reservable(self.host, False),
            lambda tx: tx.failures.fail([self.host]),
            lambda tx: tx.catalogue.set_disabled(self.host, True),
            lambda tx: tx.resources.delete(self.host),
        ]
        for close in closing:
            work = self.work(self.draft([LITTLE, OTHER]))
            self.interrupt(2, lambda close=close: self.store.run(close))
            with self.store.reading() as tx:
                chosen = self.chosen(tx, work)
            self.assertRaises(
                LostRace,
                self.store.run,
                lambda tx, work=work, chosen=chosen: work.write(tx, chosen),
            )
            self.store.run(self._open_again)

    def _open_again(self, tx: Transaction) -> None:
        tx.resources.set_reservable(self.host, True)
        tx.catalogue.set_disabled(self.host, False)
        tx.failures.recover([self.host], tx.now + cases.HOUR)

    def test_an_inventory_is_changed(self) -> None:
        work = self.work(self.draft([MUCH]))
        for less in (
            Inventory(resource_class='DISK_GB', total=299),
            Inventory(resource_class='DISK_GB', total=500, max_unit=299),
        ):
            chosen = fetch(self.store, lambda tx: self.chosen(tx, work))
            self.store.run(lambda tx, less=less: tx.book([self.host]).restock(self.host, [less]))
            self.assertRaises(
                LostRace, self.store.run, lambda tx, chosen=chosen: work.write(tx, chosen)
            )
            self.store.run(lambda tx: tx.book([self.host]).restock(self.host, STOCK))

    # -- the right to book

    def test_what_is_not_locked_cannot_be_booked(self) -> None:
        more = Allocation(
            reservation_id=self.book_for(LITTLE).reservations[0].id,
            resource_id=self.host,
            resource_class='VCPU',
            period=Period(start=cases.at(1), end=cases.at(2)),
        )
        self.assertRaises(NotLocked, self.store.run, lambda tx: tx.book([]).insert([more]))
        self.assertRaises(
            NotLocked, self.store.run, lambda tx: tx.book([]).restock(self.host, STOCK)
        )
        self.assertRaises(
            LostRace,
            self.store.run,
            lambda tx: tx.book([self.host]).insert([dataclasses.replace(more, amount=9)]),
        )


class TestSqlite(Between, cases.StoreCase):
    """On SQLite."""


@services.on_each_engine(cases.StoreCase, engines=services.DATABASE_SERVERS)
class BetweenWrites(Between):
    """On SQLite a transaction that may write excludes all others."""

    def test_a_lease_with_several_moves(self) -> None:
        lease = self.book_for(MUCH, OTHER)
        failed = self.host
        self.store.run(lambda tx: tx.failures.fail([failed]))
        self.host = self.store.run(lambda tx: tx.resources.insert(cases.host(2, inventories=STOCK)))
        self.interrupt(1, lambda: self.book_for(MUCH))

        def move(tx: Transaction) -> None:
            old = tx.leases.get(lease.id, lock=True)
            mover = Mover(tx, self.plugins, SETTINGS, random.Random(1), old)
            for reservation in old.reservations:
                mover.move(reservation, failed, 'it failed')
            mover.write(old)

        self.assertRaises(LostRace, self.store.run, move)
