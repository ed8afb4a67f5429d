# SPDX-License-Identifier: Apache-2.0

"""Deadlines count the time of the tries, not that of an outage."""

from __future__ import annotations

from climate.domain.events import EventKind
from tests import base
from tests.functional.manager.harness import Office


class TestDeadlines(base.TestCase):
    """Managers are away for longer than the deadline, which is two minutes."""

    def setUp(self) -> None:
        super().setUp()
        self.office = self.useFixture(Office())

    def test_away_after_a_start_was_begun(self) -> None:
        office = self.office
        lease = office.create(100, 3600)
        office.until(99)
        office.away_until(100)
        office.hire().die_after('begin')
        office.away_until(1000)
        office.cloud.fail('compute.add_host', times=3)
        office.until(1020)
        self.assertEqual('ACTIVE', office.status(lease))
        self.assertEqual(3, office.event(lease, EventKind.START).attempts)
        self.assertNotIn('error', office.bus.told(lease))

    def test_away_between_two_tries(self) -> None:
        office = self.office
        lease = office.create(100, 3600)
        office.until(99)
        office.cloud.reachable = False
        office.until(150)
        office.away_until(1000)
        office.until(1050)
        self.assertEqual('STARTING', office.status(lease))
        office.until(1080)
        self.assertEqual('ERROR', office.status(lease))

    def test_away_while_servers_are_deleted(self) -> None:
        office = self.office
        lease = office.create(100, 3600)
        office.until(10)
        (host,) = (item.resource_name for item in office.allocations(lease))
        office.cloud.boot_server(host, 'red', 'stray')
        office.cloud.set_server_deletion_seconds(30)
        office.until(99)
        office.away_until(100)
        office.hire().die_after('begin')
        office.away_until(1000)
        office.until(1040)
        self.assertEqual('ACTIVE', office.status(lease))
