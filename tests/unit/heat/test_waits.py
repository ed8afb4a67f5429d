# SPDX-License-Identifier: Apache-2.0

"""When a resource of a stack is complete, and how often the lease is read until then."""

from __future__ import annotations

import datetime

from keystoneauth1 import exceptions as auth_exceptions
from openstack import exceptions

from climate.clock import ManualClock
from climate.heat import waits
from tests import base

NOW = datetime.datetime(2030, 1, 1, 12, tzinfo=datetime.UTC)


class WaitsTest(base.TestCase):
    """Status, failures and pauses."""

    def test_reached(self) -> None:
        states = ('WAITING', 'PENDING', 'STARTING', 'ACTIVE', 'UPDATING')
        for wait_for, reached in (
            ('BOOKED', {'PENDING', 'STARTING', 'ACTIVE'}),
            ('ACTIVE', {'ACTIVE'}),
        ):
            found = {status for status in states if waits.reached(status, wait_for)}
            self.assertEqual(reached, found)

    def test_what_passes(self) -> None:
        for status, passes in ((503, True), (429, True), (404, False), (403, False)):
            error = exceptions.HttpException('x', http_status=status)
            self.assertEqual(passes, waits.passes(error), status)
        self.assertTrue(waits.passes(auth_exceptions.ConnectFailure('x')))
        self.assertFalse(waits.passes(auth_exceptions.EmptyCatalog('x')))

    def test_pauses(self) -> None:
        for seconds, pause in ((3600, 15.0), (8, 8.0), (0, 1.0), (-60, 1.0)):
            start = (NOW + datetime.timedelta(seconds=seconds)).isoformat()
            self.assertEqual(pause, waits.pause({'start_date': start}, NOW), seconds)
        waiting = {'status': 'WAITING', 'start_date': NOW.isoformat()}
        self.assertEqual(15.0, waits.pause(waiting, NOW))

    def test_pace(self) -> None:
        clock = ManualClock(NOW)
        pace = waits.Pace(clock)
        self.assertTrue(pace.is_due())
        pace.rest(5)
        self.assertFalse(pace.is_due())
        clock.advance(5)
        self.assertTrue(pace.is_due())
