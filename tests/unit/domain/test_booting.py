# SPDX-License-Identifier: Apache-2.0

"""What a server says of the lease that it is to have."""

from __future__ import annotations

import datetime
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from climate.domain import booting
from climate.domain.events import EventKind
from climate.domain.requests import EventDraft
from tests import base
from tests.narrowing import present

NOW = datetime.datetime(2030, 1, 1, 12, tzinfo=datetime.UTC)
KEYS = ('lease_start', 'lease_end', 'lease_duration', 'lease_name', 'on_end', 'guarantee')
TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(['now', '2030-01-02 12:00', '2031-01-01T00:00Z', '5d', 'PT90M', 'true', '']),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
FIELDS = st.sampled_from(['name', 'start', 'end', 'duration', 'on_end', 'guarantee', 'events'])


def at(hours: float) -> datetime.datetime:
    """Return so many hours after noon."""
    return NOW + datetime.timedelta(hours=hours)


def said(**facts: str) -> dict[str, str]:
    """Return metadata of a server, and one entry that is nobody's business."""
    return {'a': 'b', **{f'climate:{key}': value for key, value in facts.items()}}


class BootingTest(base.TestCase):
    """Metadata and the hint."""

    def wish(self, metadata: dict[str, str], hint: object = None) -> booting.RequestedLease | None:
        return booting.requested_lease(metadata, hint, NOW)

    def assert_refused(self, text: str, metadata: dict[str, str], hint: object = None) -> None:
        error = self.assertRaises(booting.Unreadable, self.wish, metadata, hint)
        self.assertIn(text, str(error))
        self.assertLess(len(str(error)), booting.LONGEST)

    def test_a_server_that_asks_for_nothing(self) -> None:
        for metadata in ({}, {'a': 'b'}, said(lease_name='x', on_end='stop'), said(lease_id='7')):
            self.assertIsNone(self.wish(metadata))

    def test_metadata(self) -> None:
        day = datetime.timedelta(days=1)
        cases: tuple[tuple[dict[str, str], booting.RequestedLease], ...] = (
            (said(lease_end='2030-01-02 12:00'), booting.RequestedLease(start=NOW, end=NOW + day)),
            (
                said(lease_end='2030-01-02T13:00+01:00'),
                booting.RequestedLease(start=NOW, end=NOW + day),
            ),
            (said(lease_duration='24h'), booting.RequestedLease(start=NOW, end=NOW + day)),
            (
                said(lease_start='2029-12-31 00:00', lease_duration=' P1D '),
                booting.RequestedLease(start=NOW, end=NOW + day),
            ),
            (
                said(lease_start='2030-01-01T14:00:00Z', lease_duration='1h', lease_name=' n '),
                booting.RequestedLease(start=at(2), end=at(3), name='n'),
            ),
            (
                said(lease_start='now', lease_duration='1h', on_end='stop, snapshot'),
                booting.RequestedLease(start=NOW, end=at(1), on_end=('stop', 'snapshot')),
            ),
            (
                said(lease_duration='1h', guarantee='True'),
                booting.RequestedLease(start=NOW, end=at(1), guarantee=True),
            ),
        )
        for metadata, wanted in cases:
            self.assertEqual(wanted, self.wish(metadata))

    def test_the_hint_of_2014(self) -> None:
        said_then = {'name': 'lease1', 'start': 'now', 'end': '2030-01-01 13:00'}
        events = [
            {'event_type': 'notification', 'event_date': '2030-01-01 12:30'},
            {'event_type': 'before_end_lease', 'event_date': '2030-01-01 12:45'},
        ]
        wanted = booting.RequestedLease(start=NOW, end=at(1), name='lease1')
        text = json.dumps(said_then)
        for hint in (text, [text], said_then, [said_then]):
            self.assertEqual(wanted, self.wish({}, hint))
        found = present(self.wish({}, {**said_then, 'events': events}))
        notification = EventDraft(kind=EventKind.NOTIFICATION, time=at(0.5))
        self.assertEqual(((notification,), at(0.75)), (found.events, found.before_end_date))

    def test_metadata_come_before_the_hint(self) -> None:
        found = self.wish(said(lease_duration='1h'), 'rubbish')
        self.assertEqual(booting.RequestedLease(start=NOW, end=at(1)), found)

    def test_what_is_refused_says_where_and_why(self) -> None:
        hint = 'lease_params'
        for text, metadata in (
            ('either climate:lease_end or', said(lease_start='now')),
            ('either climate:lease_end or', said(lease_end='now', lease_duration='1h')),
            ("climate:lease_end: 'tomorrow' is not a time", said(lease_end='tomorrow')),
            ('climate:lease_end: ', said(lease_end='x' * 255)),
            ('is in the past, or before the start', said(lease_end='2029-12-31 12:00')),
            ('before the start', said(lease_start='2030-01-02 12:00', lease_end='now')),
            ('climate:lease_start: ', said(lease_start='31.1.2030', lease_duration='1h')),
            ("climate:lease_duration: '1y' is not a duration", said(lease_duration='1y')),
            ('climate:lease_duration: ', said(lease_duration='0s')),
            ('after the year 9999', said(lease_start='9999-12-31 00:00', lease_duration='2d')),
            ('climate:guarantee: true or', said(lease_duration='1h', guarantee='maybe')),
        ):
            self.assert_refused(text, metadata)
        for text, value in (
            (f'{hint} is not valid JSON', '{'),
            (f'{hint} is not a JSON object', '[]'),
            (f'{hint} is not a JSON object', 7),
            (f'either {hint}.end or {hint}.duration', {}),
            (f'{hint}.end: a string', {'end': 7}),
            (f'{hint}.on_end: words', {'duration': '1h', 'on_end': 7}),
            (f'{hint}.events: a list', {'duration': '1h', 'events': {}}),
            (f'{hint}.events: at most 100', {'duration': '1h', 'events': [{}] * 101}),
            (f'{hint}.events[0].event_date is', {'duration': '1h', 'events': [{}]}),
            (f'{hint}.events[0].event_date: ', {'duration': '1h', 'events': [{'event_date': 'x'}]}),
        ):
            self.assert_refused(text, {}, value)

    @given(metadata=st.dictionaries(st.sampled_from([f'climate:{key}' for key in KEYS]), TEXTS))
    def test_any_metadata(self, metadata: dict[str, str]) -> None:
        self.assert_sound(metadata, None)

    @given(hint=JSON | st.dictionaries(FIELDS, JSON) | st.dictionaries(FIELDS, TEXTS))
    def test_any_hint(self, hint: Any) -> None:
        self.assert_sound({}, hint)
        self.assert_sound({}, json.dumps(hint))

    def assert_sound(self, metadata: dict[str, str], hint: object) -> None:
        try:
            found = self.wish(metadata, hint)
        except booting.Unreadable as error:
            self.assertLess(len(str(error)), booting.LONGEST)
            return
        if found is not None:
            self.assertLessEqual(NOW, found.start)
            self.assertLess(found.start, found.end)
