# SPDX-License-Identifier: Apache-2.0

"""Timelines in memory, against each allocation and against timelines read at once."""

from __future__ import annotations

import concurrent.futures
import datetime
import os
import threading
from collections.abc import Callable
from typing import Any

import fixtures
import sqlalchemy as sa

from climate.allocation.blocks import SIZE
from climate.allocation.steps import microseconds
from climate.db.resources.properties import CAPABILITY
from climate.db.schema.tables import RESOURCES
from climate.db.timelines import packed
from climate.db.timelines.reader import TimelineReader
from climate.db.timelines.timelines import Timelines
from tests import generations
from tests import services
from tests.functional.db import cases
from tests.functional.db import histories
from tests.functional.db import plans
from tests.functional.db.histories import PAUSE
from tests.functional.db.plain_blocks import plain

THREADS = 64


@services.on_each_engine(cases.StoreCase)
class TimelinesCase(histories.HistoryCase):
    """A short history, and what else may happen."""

    def test_what_is_current_is_not_read_again(self) -> None:
        self.assertIs(self.blocks()[0], self.blocks()[0])

    def test_one_host_of_many_is_read_alone(self) -> None:
        self.blocks()
        host = self.hosts[2]
        self.store.run(lambda tx: tx.resources.touch(host))
        with self.store.reading() as tx:
            reader = TimelineReader(tx.session, tx.now)
            with plans.captured(self.store.engine) as statements:
                self.timelines.current(reader, cases.TYPE)
        asked = [each.parameters for each in statements if 'FROM allocations' in each.text]
        self.assertEqual(1, len(asked))
        for parameters in asked:
            values = parameters.values() if isinstance(parameters, dict) else parameters
            self.assertIn(host, list(values))
            self.assertNotIn(self.hosts[-1], list(values))

    def test_beyond_the_horizon(self) -> None:
        timelines = Timelines(PAUSE, horizon=cases.HOUR)
        self.book([self.hosts[0]], 30, 31)
        with self.store.reading() as tx:
            reader = TimelineReader(tx.session, tx.now)
            near = timelines.current(reader, cases.TYPE, cases.at(1))
            far = timelines.current(reader, cases.TYPE, cases.at(31))
        self.assertFalse(far[0].occupied.is_zero)
        self.assertTrue(near[0].occupied.is_zero)
        self.clock.advance(29 * 3600)
        with self.store.reading() as tx:
            reader = TimelineReader(tx.session, tx.now)
            near = timelines.current(reader, cases.TYPE, tx.now)
        self.assertFalse(near[0].occupied.is_zero)

    def complete(self, timelines: Timelines, until: datetime.datetime | None = None) -> Any:
        """Return what timelines answer, as plain values."""
        with self.store.reading() as tx:
            found = timelines.current(TimelineReader(tx.session, tx.now), cases.TYPE, until)
        return [plain(block, 0) for block in found]

    def test_questions_beyond_the_horizon(self) -> None:
        """They read what is not kept, and keep none of it."""
        near, far = Timelines(PAUSE, horizon=cases.HOUR), Timelines(PAUSE)
        self.book([self.hosts[0]], 30, 31)
        self.book([self.hosts[1]], 40, 41, resource_class='VCPU', amount=2)
        self.assertEqual(self.complete(far), self.complete(near))
        self.assertEqual(self.complete(far), self.complete(near, cases.at(41)))
        self.assertNotEqual(self.complete(far), self.complete(near, cases.at(1)))
        # Their ids may be those of two blocks.
        kept = near._kept[cases.TYPE].values()
        self.assertTrue(any(each.omits for each in kept))
        self.assertTrue(all(each.block.occupied.is_zero for each in kept))

    def test_a_clock_that_jumps(self) -> None:
        """Years ahead and back again: everything is found, if only by reading it."""
        self.book([self.hosts[0]], 5, 6)
        self.book([self.hosts[1]], 24 * 800, 24 * 800 + 1)
        for hours in (0, 24 * 799, -24 * 799):
            self.clock.advance(hours * 3600)
            expected = self.complete(Timelines(PAUSE, horizon=cases.HOUR * 24 * 1000))
            self.assertEqual(expected, self.complete(self.timelines))
            self.assertEqual(self.busy(Timelines(PAUSE)), self.busy(self.timelines))

    def busy(self, timelines: Timelines) -> list[int]:
        """Return what is booked of each host within two days, as a search sees it."""
        with self.store.reading() as tx:
            until = tx.now + 48 * cases.HOUR
            blocks = timelines.current(TimelineReader(tx.session, tx.now), cases.TYPE, until)
            window = microseconds(tx.now), microseconds(until)
        return [peak for block in blocks for peak in block.occupied.peaks(*window).tolist()]

    def test_many_changed_of_one_block(self) -> None:
        """So many that the whole block is read again, but not all."""
        drafts = [cases.host(number, inventories=histories.INVENTORIES) for number in range(9, 149)]
        many = self.store.run(lambda tx: [tx.resources.insert(draft) for draft in drafts])
        self.book([many[0], many[70], many[-1]], 1, 2, resource_class='VCPU', amount=2)
        self.blocks()
        self.store.run(lambda tx: [tx.resources.touch(host) for host in many[1:-1]])
        kept, fresh = self.blocks(), self.blocks(Timelines(PAUSE))
        self.assertEqual(*([plain(block, 0) for block in each] for each in (fresh, kept)))

    def add_far(self) -> list[int]:
        """Add hosts of three more blocks; return their ids."""
        far = [10_000 * number for number in range(1, 4)]
        facts = {'resource_type': cases.TYPE, 'reservable': True, 'disabled': False}
        rows = [
            {'id': key, 'name': f'far-{key}', 'generation': 0, 'deleted': 0, **facts} for key in far
        ]
        self.store.run(lambda tx: tx.session.execute(sa.insert(RESOURCES), rows))
        return far

    def test_bookings_while_two_readers_load(self) -> None:
        """They are found, wherever between the statements of a reader they are committed."""
        self.add_far()
        together = threading.Barrier(2)
        booked: list[threading.Thread] = []

        class Reader(TimelineReader):
            def _facts(other, rows: Any, *arguments: Any) -> Any:
                if threading.current_thread() not in booked:
                    together.wait(60)
                    booked.append(threading.current_thread())
                self.book([rows[0].id], 1, 2)
                found = super()._facts(rows, *arguments)
                self.book([rows[0].id], 3, 4)
                return found

        with self.store.reading() as one, self.store.reading() as another:
            readers = [Reader(each.session, each.now) for each in (one, another)]
            self.timelines.load(readers, cases.TYPE)
        self.assertEqual(2, len(booked))
        kept, fresh = self.blocks(), self.blocks(Timelines(PAUSE))
        self.assertEqual(*([plain(block, 0) for block in each] for each in (fresh, kept)))
        self.assertEqual(len(kept), sum(self.busy(self.timelines)))

    def test_a_reader_that_fails_while_another_loads(self) -> None:
        failed = threading.Event()

        class Failing(TimelineReader):
            def block(other, *arguments: Any) -> Any:
                failed.set()
                raise ValueError

        class Patient(TimelineReader):
            def block(other, *arguments: Any) -> Any:
                failed.wait(60)
                return super().block(*arguments)

        hosts = [*self.add_far(), *self.hosts]
        with self.store.reading() as one, self.store.reading() as another:
            readers = [Patient(one.session, one.now), Failing(another.session, another.now)]
            self.assertRaises(ValueError, self.timelines.load, readers, cases.TYPE)
        self.assertFalse(self.timelines.has(cases.TYPE))
        self.assertEqual(len(hosts), sum(map(len, self.blocks())))

    def test_properties_that_differ_late(self) -> None:
        """MariaDB would take texts with the same long beginning for the same."""
        values = [5000 * 'x' + end for end in 'ab']

        def describe(tx: Any) -> None:
            for host, value in zip(self.hosts, values, strict=False):
                tx.properties.set_capability(host, 'long', value)
                tx.resources.touch(host)

        self.store.run(describe)
        found = [block.columns.found.get((CAPABILITY, 'long')) for block in self.blocks()]
        ends = [text[-1] for column in found if column for text, _ in column.values]
        self.assertEqual(['a', 'b'], sorted(ends))

    def test_changes_in_many_blocks(self) -> None:
        """They take as many statements as one, and all are found."""
        far = self.add_far()
        self.blocks()
        counts = []
        for hosts in ([far[0]], [*far, *self.hosts]):
            self.book(hosts, 1 + len(counts), 2 + len(counts))
            self.store.run(lambda tx, ids=hosts: [tx.resources.touch(one) for one in ids])
            with plans.captured(self.store.engine) as statements:
                kept = self.blocks()
            counts.append(len(statements))
            fresh = self.blocks(Timelines(PAUSE))
            self.assertEqual(*([plain(block, 0) for block in each] for each in (fresh, kept)))
        self.assertEqual(len({key // SIZE for key in [*far, *self.hosts]}), len(kept))
        self.assertEqual(counts[0], counts[1])

    def test_periods_that_are_too_long_for_one_text(self) -> None:
        """They are read as several, and are the same."""
        for hour in range(4):
            self.book(self.hosts[:2], 2 * hour, 2 * hour + 1)
            self.book(self.hosts[2:4], hour, hour + 1, resource_class='VCPU', amount=2)
        expected = self.complete(Timelines(PAUSE))
        beyond = self.complete(Timelines(PAUSE, horizon=cases.HOUR))
        tried = []
        cut = fixtures.MockPatchObject(packed, 'bookings', self.limited(packed.bookings, 100))
        longer = fixtures.MockPatchObject(packed, 'let_be_long', tried.append)
        with cut, longer:
            self.assertEqual(expected, self.complete(Timelines(PAUSE)))
            self.assertEqual(beyond, self.complete(Timelines(PAUSE, horizon=cases.HOUR)))
        self.assertTrue(tried)

    def limited(self, read: Callable[[Any], Any], most: int) -> Callable[[Any], Any]:
        """Return a function that reads texts of a length at most, as if longer ones were cut."""

        def limited(rows: Any) -> Any:
            return read([(key, number, text[:most]) for key, number, text in rows])

        return limited

    def test_a_search_while_another_thread_loads(self) -> None:
        """It waits, and is right."""
        self.book([self.hosts[0]], 1, 2)
        lock = self.timelines._locks.setdefault(cases.TYPE, threading.Lock())
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            with lock:
                waiting = pool.submit(self.blocks)
                self.assertRaises(TimeoutError, waiting.result, 0.2)
            found = waiting.result(60)
        self.assertEqual(1, self.timelines.counts.found['loaded'])
        fresh = self.blocks(Timelines(PAUSE))
        self.assertEqual(*([plain(block, 0) for block in each] for each in (fresh, found)))

    def test_a_change_while_it_is_loaded(self) -> None:
        class Reader(TimelineReader):
            def sums(other, resource_type: str) -> Any:
                found = super().sums(resource_type)
                self.store.run(lambda tx: tx.catalogue.set_disabled(self.hosts[0], True))
                return found

        if self.kind == services.SQLITE:
            self.skipTest('a transaction of SQLite sees no later change')
        with self.store.reading() as tx:
            self.timelines.current(Reader(tx.session, tx.now), cases.TYPE)
        self.assertFalse(self.blocks()[0].bookable[0])

    def test_the_child_of_a_fork_begins_without_any(self) -> None:
        self.blocks()
        self.timelines._locks[cases.TYPE].acquire()
        child = os.fork()
        if not child:
            os._exit(0 if not (self.timelines._kept or self.timelines._locks) else 1)
        self.assertEqual(0, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        self.assertTrue(self.timelines.has(cases.TYPE))

    def test_a_change_that_is_not_announced(self) -> None:
        """The check of all functional tests finds it."""
        self.store.run(lambda tx: tx.properties.set_capability(self.hosts[0], 'zone', None))
        self.assertIn('DELETE FROM properties', generations.taken()[-1])

    def test_many_threads(self) -> None:
        """Each sees at least what was committed before it asked."""
        disabled: set[int] = set()

        def look(number: int) -> bool:
            host = self.hosts[number % len(self.hosts)]
            if number < len(self.hosts):
                self.store.run(lambda tx: tx.catalogue.set_disabled(host, True))
                disabled.add(host)
            expected = frozenset(disabled)
            with self.store.reading() as tx:
                found = self.timelines.current(TimelineReader(tx.session, tx.now), cases.TYPE)
            open_hosts = {int(one) for block in found for one in block.ids[block.bookable]}
            return not expected & open_hosts

        with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
            self.assertTrue(all(pool.map(look, range(4 * THREADS))))
        self.assertEqual(1, self.timelines.counts.found['loaded'])
        self.assertFalse(self.blocks()[0].bookable.any())

    def test_no_resources(self) -> None:
        with self.store.reading() as tx:
            reader = TimelineReader(tx.session, tx.now)
            self.assertEqual([], self.timelines.current(reader, 'virtual:floatingip'))
