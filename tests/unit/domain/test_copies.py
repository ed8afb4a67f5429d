# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
        copy = with_changes(EVENT, **changes)
        self.assertEqual(dataclasses.replace(EVENT, **changes), copy)
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
