# SPDX-License-Identifier: Apache-2.0

"""Refused demand, counted in memory and written by each engine."""

from __future__ import annotations

import datetime
import threading

from fixtures import MonkeyPatch

from climate import exceptions
from climate.booking.requests.refused_demand import RefusedDemand
from climate.db.administration.purge import purge
from climate.domain.usage import UsageKey
from climate.domain.usage import UsageQuery
from climate.domain.usage import UsageRow
from tests import services
from tests.databases import fetch
from tests.functional.db import cases
from tests.functional.processes import until
from tests.narrowing import present
from tests.threads import together

DAY = datetime.timedelta(days=1)


def refused(**demanded: int) -> exceptions.NotEnoughResources:
    """Return a refusal; ``whole`` stands for whole resources."""
    error = exceptions.NotEnoughResources('hosts')
    error.resource_type = cases.TYPE
    error.demanded = {None if name == 'whole' else name: one for name, one in demanded.items()}
    return error


@services.on_each_engine(cases.StoreCase)
class Refused:
    """No lease, and refusals of two projects."""

    def setUp(self) -> None:
        super().setUp()
        self.demand = RefusedDemand(self.store, self.clock)

    def report(self, by: UsageKey, **more: str) -> list[UsageRow]:
        query = UsageQuery(period=cases.hours(-1, 1), by=by, **more)
        return fetch(self.store, lambda tx: tx.usage.report(query, tx.refusals.within(query)))

    def amounts(self, by: UsageKey, **more: str) -> list[tuple[str | None, str | None, int, int]]:
        """Return key, class, refusals and the amount of each row."""
        return [
            (row.project_id or row.resource_type, row.resource_class, row.refusals, row.refused)
            for row in self.report(by, **more)
        ]

    def test_they_are_summed_by_key(self) -> None:
        self.demand.add('blue', refused(whole=7200))
        self.demand.add('blue', refused(whole=3600))
        self.demand.flush()
        self.demand.add('red', refused(VCPU=10, MEMORY_MB=20))
        self.demand.add('red', refused(whole=1))
        self.demand.flush()
        red = [('red', None, 1, 1), ('red', 'MEMORY_MB', 1, 20), ('red', 'VCPU', 1, 10)]
        self.assertEqual([('blue', None, 2, 10800), *red], self.amounts(UsageKey.PROJECT))
        found = self.amounts(UsageKey.TYPE, project_id='blue')
        self.assertEqual([(cases.TYPE, None, 2, 10800)], found)
        self.assertEqual(
            [(None, None, 3, 10801), (None, 'MEMORY_MB', 1, 20), (None, 'VCPU', 1, 10)],
            self.amounts(UsageKey.CLASS),
        )
        self.assertEqual([], self.amounts(UsageKey.CLASS, resource_type='network'))

    def test_nothing_refused_is_nothing_written(self) -> None:
        self.useFixture(MonkeyPatch('climate.db.transactions.store.Store.run', None))
        self.demand.flush()

    def test_many_processes_add_to_the_same_row(self) -> None:
        processes = [RefusedDemand(self.store, self.clock) for _ in range(4)]
        for each in processes:
            each.add('blue', refused(whole=5, VCPU=1))
        together(RefusedDemand.flush, processes)
        found = self.amounts(UsageKey.PROJECT)
        self.assertEqual([('blue', None, 4, 20), ('blue', 'VCPU', 4, 4)], found)

    def test_counts_wait_for_the_database(self) -> None:
        def away(*_: object) -> None:
            raise exceptions.DatabaseUnavailable

        self.demand.add('blue', refused(whole=5))
        with MonkeyPatch('climate.db.transactions.store.Store.run', away):
            self.assertRaises(exceptions.DatabaseUnavailable, self.demand.flush)
        self.demand.add('blue', refused(whole=1))
        self.demand.flush()
        self.assertEqual([('blue', None, 2, 6)], self.amounts(UsageKey.PROJECT))

    def test_purged_by_day(self) -> None:
        self.demand.add('blue', refused(whole=5))
        self.demand.flush()
        purge(self.store, self.clock.now())
        self.assertEqual([('blue', None, 1, 5)], self.amounts(UsageKey.PROJECT))
        purge(self.store, self.clock.now() + DAY)
        self.assertEqual([], self.amounts(UsageKey.PROJECT))

    def test_no_sum_overflows(self) -> None:
        """Whatever some project requests, the refusals of the others are counted."""
        for _ in range(3):
            for _ in range(2):
                self.demand.add('blue', refused(whole=2**80))
            self.demand.flush()
        self.demand.add('red', refused(whole=1))
        self.demand.flush()
        found = self.amounts(UsageKey.PROJECT)
        self.assertEqual([('blue', None, 6, 2**53), ('red', None, 1, 1)], found)

    def test_written_after_a_fork(self) -> None:
        """Threads do not survive it."""
        self.demand.start()
        present(self.demand._thread).stop(10)
        self.demand.add('blue', refused(whole=1))
        self.addCleanup(self.demand._thread.stop, 10)
        until('it is written', lambda: self.amounts(UsageKey.PROJECT))

    def test_written_soon_by_a_thread(self) -> None:
        written = threading.Event()
        run = self.store.run

        def emit(*words: object) -> None:
            run(*words)
            written.set()

        self.useFixture(MonkeyPatch('climate.booking.requests.refused_demand._PAUSE', 0.01))
        self.useFixture(
            MonkeyPatch('climate.db.transactions.store.Store.run', lambda _self, work: emit(work))
        )
        self.demand.start()
        self.demand.add('blue', refused(whole=5))
        self.assertTrue(written.wait(30))
        self.assertEqual([('blue', None, 1, 5)], self.amounts(UsageKey.PROJECT))
