# SPDX-License-Identifier: Apache-2.0

"""Changed copies of values."""

from __future__ import annotations

import dataclasses
import datetime

from climate.domain.copies import with_changes
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.payloads import ChangePayload
from climate.domain.payloads import EffectPayload
from tests import base

NOW = datetime.datetime(2031, 1, 1, tzinfo=datetime.UTC)
EVENT = Event(id='a', lease_id='b', kind=EventKind.START, time=NOW, due=NOW)


class TestWithChanges(base.TestCase):
    """The same as of the standard library."""

    def test_it_copies_as_the_standard_library_does(self) -> None:
        changes = {'attempts': 3, 'error': 'busy'}
        self.assertEqual(dataclasses.replace(EVENT, **changes), with_changes(EVENT, **changes))
        self.assertEqual((0, None), (EVENT.attempts, EVENT.error))

    def test_fields_of_base_classes(self) -> None:
        tried = datetime.timedelta(seconds=5)
        copy = with_changes(ChangePayload(charge_id='c'), tried=tried)
        self.assertEqual(ChangePayload(charge_id='c', tried=tried), copy)

    def test_the_class_checks_the_copy(self) -> None:
        self.assertRaises(TypeError, with_changes, EVENT, payload=ChangePayload())
        self.assertEqual(EVENT, with_changes(EVENT, payload=EffectPayload()))

    def test_an_unknown_field(self) -> None:
        self.assertRaises(TypeError, with_changes, EVENT, colour='blue')

    def test_the_copy_is_frozen(self) -> None:
        copy = with_changes(EVENT, attempts=3)
        self.assertRaises(dataclasses.FrozenInstanceError, setattr, copy, 'attempts', 4)
