# SPDX-License-Identifier: Apache-2.0

"""Timelines of resource types in the memory of a process, kept up to date from SQL.

A timeline is a cache. Each transaction that changes what a resource has, or what is
free of it, increases the generation of the resource. A sum of generations for each
block therefore shows what has to be read again. What is chosen from a timeline is
still verified when it is booked (:mod:`climate.db.booking.verification`).
"""

from __future__ import annotations

import concurrent.futures
import datetime
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

from climate.allocation import memory
from climate.allocation.blocks import Block
from climate.db.timelines.bookings import NewBookings
from climate.db.timelines.counts import TimelineCounts
from climate.db.timelines.counts import TimelineEvent
from climate.db.timelines.reader import CachedBlock
from climate.db.timelines.reader import Sums
from climate.db.timelines.reader import TimelineReader

LOG = logging.getLogger(__name__)

# Blocks are read up to an instant beyond the horizon, to be read again less often.
_SPARE: Final = 1.1

Blocks = Mapping[tuple[str, int], CachedBlock]
"""Blocks by resource type and number."""


class Timelines:
    """The timelines of one store; for many threads.

    A process that forks loads its own: the child of a fork begins without any.

    :ivar counts: counters for operators
    :param cleaning_time: between two allocations of a resource
    :param horizon: how far ahead allocations are kept; what lies beyond is read when
        a question needs it
    """

    def __init__(
        self,
        cleaning_time: datetime.timedelta,
        horizon: datetime.timedelta = datetime.timedelta(days=400),
    ) -> None:
        self._cleaning_time = cleaning_time
        self._horizon = horizon
        self.counts = TimelineCounts()
        self.forget()
        memory.keep_freed()
        # Another thread may have held a lock when the process forked.
        forget = weakref.WeakMethod(self.forget)
        os.register_at_fork(after_in_child=lambda: _call(forget()))

    def forget(self) -> None:
        """Drop everything, so that the next search loads it."""
        self._kept: dict[str, Mapping[int, CachedBlock]] = {}
        self._locks: dict[str, threading.Lock] = {}

    def has(self, resource_type: str) -> bool:
        """Whether the timeline of a type has been loaded."""
        return resource_type in self._kept

    def latest(self, resource_type: str) -> list[Block]:
        """Return the resources of a type as they were read last, which may be long ago.

        :returns: nothing if they were not read yet; without allocations beyond the horizon
        """
        return [each.block for each in self._kept.get(resource_type, {}).values()]

    def unchanged(
        self, reader: TimelineReader, resource_type: str, until: datetime.datetime
    ) -> list[Block] | None:
        """Return what :meth:`current` returns if nothing has to be read; None otherwise."""
        kept = self._kept.get(resource_type)
        if kept is None or _lacking(kept, until):
            return None
        self.counts.add(TimelineEvent.VALIDATED)
        if not self._is_current(kept, reader.sums(resource_type), reader.now):
            return None
        return [kept[number].block for number in sorted(kept)]

    def current(
        self, reader: TimelineReader, resource_type: str, until: datetime.datetime | None = None
    ) -> list[Block]:
        """Return all resources of a type as they are now, in id order.

        The first one to ask loads them; others wait for that.

        :param reader: of a transaction that has written nothing
        :param until: the end of the period that is of interest, which may lie beyond the
            horizon: what is not kept is read; None for all allocations, however far ahead
        """
        kept = self._kept_now(reader, resource_type)
        found = {number: each.block for number, each in kept.items()}
        for number in _lacking(kept, until):
            found[number] = reader.extended(kept[number])
        return [found[number] for number in sorted(found)]

    def load(self, readers: Sequence[TimelineReader], resource_type: str) -> None:
        """Load the timeline of a type that is not loaded yet.

        :param readers: of as many transactions, which work at the same time
        """
        with self._lock(resource_type):
            if not self.has(resource_type):
                sums = readers[0].sums(resource_type)
                self._kept[resource_type] = self._loaded(readers, resource_type, sums)

    def passing(
        self, reader: TimelineReader, resource_type: str, until: datetime.datetime
    ) -> list[Block]:
        """Return what :meth:`current` returns, but read all of it, and keep nothing.

        :param reader: of a transaction that may have written something
        """
        since = reader.since(self._cleaning_time)
        numbers = sorted(reader.sums(resource_type))
        return [reader.block(resource_type, number, since, until).block for number in numbers]

    def holding(self, numbers: Collection[int]) -> Blocks:
        """Return the blocks with some numbers, of all types, as they were read last."""
        return {
            (resource_type, number): kept[number]
            for resource_type, kept in list(self._kept.items())
            for number in numbers
            if number in kept
        }

    def add(self, news: NewBookings, before: Blocks) -> None:
        """Add bookings that this process has committed, so that they need not be read.

        A block that has changed since is left as it is: it may contain the bookings.

        :param before: the blocks as they were before the commit
        """
        for (resource_type, number), kept in before.items():
            lock = self._lock(resource_type)
            if not lock.acquire(blocking=False):
                # What another thread reads replaces it anyway.
                continue
            try:
                latest = self._kept.get(resource_type, {})
                changed = news.added(kept) if latest.get(number) is kept else None
                if changed is not None:
                    self._kept[resource_type] = {**latest, number: changed}
            finally:
                lock.release()

    def _kept_now(self, reader: TimelineReader, resource_type: str) -> Mapping[int, CachedBlock]:
        """Return what is kept, as it is now."""
        sums = reader.sums(resource_type)
        self.counts.add(TimelineEvent.VALIDATED)
        kept = self._kept.get(resource_type)
        if kept is not None and self._is_current(kept, sums, reader.now):
            return kept
        return self._refreshed(reader, resource_type, sums)

    def _is_current(
        self, kept: Mapping[int, CachedBlock], sums: Sums, now: datetime.datetime
    ) -> bool:
        far = now + self._horizon
        return kept.keys() == sums.keys() and all(
            each.sums == sums[number] and each.until >= far for number, each in kept.items()
        )

    def _refreshed(
        self, reader: TimelineReader, resource_type: str, sums: Sums
    ) -> Mapping[int, CachedBlock]:
        """Read what has changed, or everything for the first time.

        One thread reads; those that wait find what it has read.
        """
        with self._lock(resource_type):
            latest = self._kept.get(resource_type)
            if latest is None:
                kept = self._loaded((reader,), resource_type, sums)
            else:
                kept = self._updated(reader, resource_type, sums, latest)
            self._kept[resource_type] = kept
            return kept

    def _lock(self, resource_type: str) -> threading.Lock:
        return self._locks.setdefault(resource_type, threading.Lock())

    def _loaded(
        self, readers: Sequence[TimelineReader], resource_type: str, sums: Sums
    ) -> dict[int, CachedBlock]:
        began = time.monotonic()
        left = iter(sums)

        def read(reader: TimelineReader) -> dict[int, CachedBlock]:
            return {number: self._read(reader, resource_type, number) for number in left}

        # Each block has the generations of its own transaction, so that what is committed
        # meanwhile is read again by the next search.
        with concurrent.futures.ThreadPoolExecutor() as pool:
            others = [pool.submit(read, reader) for reader in readers[1:]]
            kept = read(readers[0])
            for each in others:
                kept |= each.result()
        self.counts.add(TimelineEvent.LOADED)
        # What the rows took, which the next ones will not.
        memory.give_back()
        blocks = [each.block for each in kept.values()]
        # Most clouds have no resources of most types.
        LOG.log(
            logging.INFO if blocks else logging.DEBUG,
            'Timeline of %s: %d resources and %d allocations, %.1f MB, loaded in %.1f s',
            resource_type,
            sum(map(len, blocks)),
            sum(len(uses) for block in blocks for uses in block.periods.values()),
            sum(map(memory.size, blocks)) / 1e6,
            time.monotonic() - began,
        )
        return kept

    def _updated(
        self,
        reader: TimelineReader,
        resource_type: str,
        sums: Sums,
        latest: Mapping[int, CachedBlock],
    ) -> dict[int, CachedBlock]:
        kept = {number: latest[number] for number in sums if number in latest}
        same = {number: each for number, each in kept.items() if each.sums == sums[number]}
        # Those without new or deleted resources.
        others = {
            number: each
            for number, each in kept.items()
            if number not in same and each.sums[0] == sums[number][0]
        }
        found = {}
        if others:
            found = reader.updated(resource_type, others, reader.since(self._cleaning_time))
            self.counts.add(TimelineEvent.RELOADED, sum(each.changed for each in found.values()))
        kept = {
            number: same.get(number)
            or found.get(number)
            or self._read(reader, resource_type, number)
            for number in sums
        }
        # As time passes, blocks are read again up to a later instant: one for each search,
        # so that none of them takes long.
        far = reader.now + self._horizon
        short = [number for number, each in kept.items() if each.until < far]
        for number in short[:1]:
            kept[number] = self._read(reader, resource_type, number)
        return kept

    def _read(self, reader: TimelineReader, resource_type: str, number: int) -> CachedBlock:
        since = reader.since(self._cleaning_time)
        until = reader.now + self._horizon * _SPARE
        found = reader.block(resource_type, number, since, until)
        self.counts.add(TimelineEvent.RELOADED, found.changed)
        return found


def _lacking(kept: Mapping[int, CachedBlock], until: datetime.datetime | None) -> list[int]:
    """Return the blocks that lack allocations which start before *until*."""
    return [
        number
        for number, each in kept.items()
        if each.omits and (until is None or each.until < until)
    ]


def _call(method: Callable[[], None] | None) -> None:
    if method is not None:
        method()
