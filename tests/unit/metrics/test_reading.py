# SPDX-License-Identifier: Apache-2.0

"""Values that are read at a scrape are kept for a while, and bounded."""

from __future__ import annotations

from collections.abc import Iterator

from climate import exceptions
from climate.metrics import catalogue
from climate.metrics import reading
from climate.metrics.reading import CachedReadings
from climate.metrics.reading import Reading
from tests import base


class Source:
    """Counts how often it is read; reading takes some time of its clock."""

    def __init__(self) -> None:
        self.time = 0.0
        self.takes = 0.0
        self.number = 0
        self.error: Exception | None = None

    def __call__(self) -> Iterator[Reading]:
        """Yield how often it was read."""
        self.time += self.takes
        self.number += 1
        yield Reading(metric=catalogue.HELD, value=self.number)
        if self.error is not None:
            raise self.error


class TestCache(base.TestCase):
    """How long values are kept."""

    def setUp(self) -> None:
        super().setUp()
        self.source = Source()
        self.cache = CachedReadings(self.source, 10.0, lambda: self.source.time)

    def read(self) -> list[float]:
        return [each.value for each in self.cache()]

    def test_for_some_seconds(self) -> None:
        self.assertEqual([1], self.read())
        self.source.time = 9.9
        self.assertEqual([1], self.read())
        self.source.time = 10.0
        self.assertEqual([2], self.read())

    def test_for_twenty_times_as_long_as_it_took(self) -> None:
        self.source.takes = 2.0
        self.assertEqual([1], self.read())
        self.source.time = 39.9
        self.assertEqual([1], self.read())
        self.source.time = 40.0
        self.assertEqual([2], self.read())

    def test_failures_are_kept_as_long(self) -> None:
        for error in (exceptions.DatabaseUnavailable(), RuntimeError('a bug')):
            self.source.error = error
            self.assertEqual([], self.read())
            number = self.source.number
            self.assertEqual([], self.read())
            self.assertEqual(number, self.source.number)
            self.source.time += 10.0
        self.source.error = None
        self.assertEqual([3], self.read())


class TestBounds(base.TestCase):
    """A metric has a bounded number of values."""

    def test_the_first_ones_are_exposed(self) -> None:
        values = [
            Reading(metric=catalogue.RESERVED, value=number, labels=(f'custom:{number}',))
            for number in range(reading.MOST + 5)
        ]
        held = Reading(metric=catalogue.HELD, value=1)
        found = reading.attempted(lambda: [*values, held])
        self.assertEqual([*values[: reading.MOST], held], found)
