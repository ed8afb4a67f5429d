# SPDX-License-Identifier: Apache-2.0

"""Processes take the first slot that no running process has."""

from __future__ import annotations

import os

from climate.metrics import slots
from climate.metrics.slots import SlotTaker
from tests.base import FolderCase


class TestSlots(FolderCase):
    """Slots in an empty directory."""

    def put(self, *names: str) -> None:
        for name in names:
            (self.folder / name).write_bytes(b'')

    def files(self) -> set[str]:
        return {path.name for path in self.folder.glob('*.db')}

    def test_each_has_its_own(self) -> None:
        takers = [SlotTaker(self.folder) for _ in range(3)]
        self.assertEqual([0, 1, 2], [taker.number() for taker in takers])
        self.assertEqual([0, 1, 2], [taker.number() for taker in takers])

    def test_the_slot_of_a_dead_process_is_taken_again(self) -> None:
        first, second = SlotTaker(self.folder), SlotTaker(self.folder)
        self.assertEqual([0, 1], [first.number(), second.number()])
        del first
        self.put('counter_0.db', 'gauge_livesum_0.db', 'gauge_livesum_1.db')
        self.assertEqual(0, SlotTaker(self.folder).number())
        # It continues with the counters, but not with the gauges.
        self.assertEqual({'counter_0.db', 'gauge_livesum_1.db'}, self.files())

    def test_a_child_takes_another_one(self) -> None:
        taker = SlotTaker(self.folder)
        self.assertEqual(0, taker.number())
        child = os.fork()
        if not child:
            os._exit(taker.number())
        self.assertEqual(1, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        self.assertEqual(0, taker.number())

    def test_gauges_of_the_dead_are_deleted(self) -> None:
        dead, alive = SlotTaker(self.folder), SlotTaker(self.folder)
        self.assertEqual([0, 1], [dead.number(), alive.number()])
        self.put('counter_0.db', 'gauge_livesum_0.db', 'gauge_livesum_1.db')
        slots.forget_dead(self.folder)
        self.assertEqual(3, len(self.files()))
        del dead
        slots.forget_dead(self.folder)
        self.assertEqual({'counter_0.db', 'gauge_livesum_1.db'}, self.files())
