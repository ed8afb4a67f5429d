# SPDX-License-Identifier: Apache-2.0

"""Deadlines count the time of the tries, not that of an outage."""

from __future__ import annotations

from climate.domain.events import EventKind
from tests.functional.manager.harness import OfficeCase


class TestDeadlines(OfficeCase):
    """Managers are away for longer than the deadline, which is two minutes."""

    def test_away_after_a_start_was_begun(self) -> None:
        lease = self.office.create(100, 3600, until=99)
        self.office.away_until(100)
        self.office.hire().die_after('begin')
        self.office.away_until(1000)
        self.office.cloud.fail('compute.add_host', times=3)
        self.assertEqual('ACTIVE', self.office.status_at(1020, lease))
        self.assertEqual(3, self.office.event(lease, EventKind.START).attempts)
        self.assertNotIn('error', self.office.bus.received(lease))

    def test_away_between_two_tries(self) -> None:
        lease = self.office.create(100, 3600, until=99)
        self.office.cloud.reachable = False
        self.office.until(150)
        self.office.away_until(1000)
        self.assertEqual('STARTING', self.office.status_at(1050, lease))
        self.assertEqual('ERROR', self.office.status_at(1080, lease))

    def test_away_while_servers_are_deleted(self) -> None:
        lease = self.office.create(100, 3600, until=10)
        (host,) = (item.resource_name for item in self.office.allocations(lease))
        self.office.cloud.boot_server(host, 'red', 'stray')
        self.office.cloud.set_server_deletion_seconds(30)
        self.office.until(99)
        self.office.away_until(100)
        self.office.hire().die_after('begin')
        self.office.away_until(1000)
        self.assertEqual('ACTIVE', self.office.status_at(1040, lease))
