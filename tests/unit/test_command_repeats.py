# SPDX-License-Identifier: Apache-2.0

"""Warnings that repeat what the log has are dropped, and nothing else."""

from __future__ import annotations

import logging

from climate.cmd import logs
from climate.cmd.logs import Record
from tests import base


def record(text: str, level: int = logging.WARNING, created: float = 0.0) -> Record:
    """Return a record that was made at an instant."""
    found = Record('climate.manager', level, __file__, 1, '%s', (text,), None)
    found.created = created
    return found


class TestRepeats(base.TestCase):
    """One filter for all handlers of a process."""

    def setUp(self) -> None:
        super().setUp()
        self.filter = logs.RepeatFilter()

    def passed(self, *records: Record) -> list[str]:
        """Return the messages of the records that pass."""
        return [one.getMessage() for one in records if self.filter.filter(one)]

    def test_powers_of_two(self) -> None:
        found = self.passed(*[record('x', created=10.0 * number) for number in range(30)])
        self.assertEqual(['x', 'x (2 times)', 'x (4 times)', 'x (8 times)', 'x (16 times)'], found)

    def test_others_pass(self) -> None:
        self.assertEqual(['x', 'y', 'x (2 times)'], self.passed(*map(record, 'xyx')))

    def test_decisions_pass(self) -> None:
        lines = [record('x', logging.INFO) for _ in range(5)]
        self.assertEqual(['x'] * 5, self.passed(*lines))

    def test_news_after_silence(self) -> None:
        found = self.passed(*[record('x', created=at) for at in (0, 10, 20, 4000, 4010)])
        self.assertEqual(['x', 'x (2 times)', 'x', 'x (2 times)'], found)

    def test_several_handlers(self) -> None:
        one = record('x')
        self.assertEqual([True, True], [self.filter.filter(one), self.filter.filter(one)])
        self.assertEqual('x', one.getMessage())

    def test_bounded(self) -> None:
        for number in range(logs._MOST_REMEMBERED + 10):
            self.filter.filter(record(str(number)))
        self.assertEqual(logs._MOST_REMEMBERED, len(self.filter._seen))
