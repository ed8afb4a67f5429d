# SPDX-License-Identifier: Apache-2.0

"""Instants and lengths of time, as texts that people write."""

from __future__ import annotations

import datetime

from hypothesis import given
from hypothesis import strategies as st

from climate.domain import periods
from tests import base

UTC = datetime.UTC


class InstantsTest(base.TestCase):
    """What a text means, or that it means nothing."""

    @given(text=st.text())
    def test_any_text_means_something_or_nothing(self, text: str) -> None:
        found = periods.instant(text)
        self.assertTrue(found is None or found.tzinfo is UTC)
        periods.duration(text)

    @given(
        instant=st.datetimes(
            min_value=datetime.datetime(1971, 1, 1),  # noqa: DTZ001  the strategy adds the zone
            max_value=datetime.datetime(9998, 1, 1),  # noqa: DTZ001  the strategy adds the zone
            timezones=st.timezones(),
        )
    )
    def test_what_is_written_is_read(self, instant: datetime.datetime) -> None:
        utc = instant.astimezone(UTC)
        self.assertEqual(utc, periods.instant(utc.isoformat()))
        self.assertEqual(utc, periods.instant(utc.replace(tzinfo=None).isoformat(' ')))

    @given(seconds=st.integers(0, 10**9))
    def test_lengths(self, seconds: int) -> None:
        length = datetime.timedelta(seconds=seconds)
        self.assertEqual(length, periods.duration(f'{seconds}s'))
        self.assertEqual(length, periods.duration(f'PT{seconds}S'))

    def test_lengths_that_are_none(self) -> None:
        for text in ('', '5', 'd', '-1d', '1.5h', 'P', 'PT', 'P1Y', '9' * 12 + 'w', '１d'):
            self.assertIsNone(periods.duration(text), text)
