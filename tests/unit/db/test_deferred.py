# SPDX-License-Identifier: Apache-2.0

"""Writes of repositories that a batch records."""

from __future__ import annotations

import dataclasses
import datetime
import types
from typing import cast

import sqlalchemy as sa

from climate.clock import ManualClock
from climate.db.batches.batch_reads import BatchReads
from climate.db.batches.batches import UnitOfWork
from climate.db.leases.events import Events
from climate.db.schema.tables import EVENTS
from climate.db.statements.deferred import DeferredWrites
from climate.db.statements.deferred import NotBatched
from climate.db.timelines.timelines import Timelines
from climate.domain.events import EventKind
from climate.leases import schedule
from tests import base

NOW = datetime.datetime(2031, 1, 1, tzinfo=datetime.UTC)


class TestDeferredWrites(base.TestCase):
    """Without a database."""

    def test_an_event_that_is_changed_after_it_was_inserted_is_not_batched(self) -> None:
        events = Events(cast('sa.Connection', DeferredWrites({})), NOW)
        new, other = (schedule.new_event('lease', EventKind.UNDO, NOW) for _ in range(2))
        events.insert([new])
        events.update(other)
        self.assertRaises(NotBatched, events.update, dataclasses.replace(new, attempts=1))

    def test_a_value_that_is_changed_and_changed_back_is_written(self) -> None:
        event = schedule.new_event('lease', EventKind.START, NOW)
        lease = types.SimpleNamespace(events=(event,))
        reads = cast('BatchReads', types.SimpleNamespace(leases={'lease': lease}))
        writes = DeferredWrites({})
        unit = UnitOfWork(reads, writes, ManualClock(NOW), Timelines(datetime.timedelta(0)))
        unit.events.update(dataclasses.replace(event, attempts=1))
        (row,) = writes.record.updates[EVENTS].values()
        self.assertEqual({'row_id': event.id, 'attempts': 1, 'updated_at': NOW}, row)
        unit.events.update(event)
        (row,) = writes.record.updates[EVENTS].values()
        self.assertEqual((0, NOW), (row['attempts'], row['due']))
