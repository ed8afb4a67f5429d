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

"""Writes of repositories that a batch records."""

from __future__ import annotations

import dataclasses
import datetime
from typing import cast

import sqlalchemy as sa

from climate.db.deferred import DeferredWrites
from climate.db.deferred import NotBatched
from climate.db.events import Events
from climate.domain.events import EventKind
from climate.leases import schedule
from tests import base

NOW = datetime.datetime(2031, 1, 1, tzinfo=datetime.UTC)


class TestDeferredWrites(base.TestCase):
    """Without a database."""

    def test_an_event_that_is_changed_after_it_was_inserted_is_not_batched(self) -> None:
        writes = DeferredWrites({})
        events = Events(cast('sa.Connection', writes), NOW)
        new, other = (schedule.new_event('lease', EventKind.UNDO, NOW) for _ in range(2))
        events.insert([new])
        events.update(other)
        self.assertRaises(NotBatched, events.update, dataclasses.replace(new, attempts=1))
