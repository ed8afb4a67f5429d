# SPDX-License-Identifier: Apache-2.0

"""Deadlines count the time of the tries, not that of an outage."""

from __future__ import annotations

from climate.domain.events import EventKind
from tests.functional.manager.harness import SiteCase


class TestDeadlines(SiteCase):
    """Managers are away for longer than the deadline, which is two minutes."""

    def test_away_after_a_start_was_begun(self) -> None:
        lease = self.site.create(100, 3600, until=99)
        self.site.away_until(100)
        self.site.add_manager().die_after('begin')
        self.site.away_until(1000)
        self.site.cloud.fail('compute.add_host', times=3)
        self.assertEqual('ACTIVE', self.site.status_at(1020, lease))
        self.assertEqual(3, self.site.event(lease, EventKind.START).attempts)
        self.assertNotIn('error', self.site.bus.received(lease))

    def test_away_between_two_tries(self) -> None:
        lease = self.site.create(100, 3600, until=99)
        self.site.cloud.reachable = False
        self.site.until(150)
        self.site.away_until(1000)
        self.assertEqual('STARTING', self.site.status_at(1050, lease))
        self.assertEqual('ERROR', self.site.status_at(1080, lease))

    def test_away_while_servers_are_deleted(self) -> None:
        lease = self.site.create(100, 3600, until=10)
        (host,) = (item.resource_name for item in self.site.allocations(lease))
        self.site.cloud.boot_server(host, 'red', 'stray')
        self.site.cloud.set_server_deletion_seconds(30)
        self.site.until(99)
        self.site.away_until(100)
        self.site.add_manager().die_after('begin')
        self.site.away_until(1000)
        self.assertEqual('ACTIVE', self.site.status_at(1040, lease))
