# SPDX-License-Identifier: Apache-2.0

"""An external service is notified that leases are over, and for how long they were used."""

from __future__ import annotations

from typing import Any

from climate.domain.leases import Lease
from climate.enforcement.external_service import ExternalService
from climate.enforcement.filters import Filters
from tests import base
from tests import usage_service
from tests.functional.manager.harness import Site
from tests.unit.enforcement.test_durations import configured


class _Ends(base.TestCase):
    """A site that asks an external service."""

    def setUp(self) -> None:
        super().setUp()
        self.usage_service = self.useFixture(usage_service.UsageService())
        conf = configured(external_service_base_endpoint=self.usage_service.url)
        filters = Filters({'external_service': ExternalService.from_conf(conf)})
        self.site = self.useFixture(Site(filters=filters))

    def reports(self, lease: Lease, *, after: str = 'commit') -> list[dict[str, Any]]:
        """Return the calls about a lease after it was booked."""
        self.site.work()
        calls = [call for call in self.usage_service.calls if call.body['lease']['id'] == lease.id]
        names = [call.name for call in calls]
        return [{'name': call.name, **call.body} for call in calls[names.index(after) + 1 :]]


class TestEnds(_Ends):
    """Each lease ends once, whichever way."""

    def assert_ended(
        self, lease: Lease, reason: str, used: int, ended_at: str, hosts: int = 1
    ) -> None:
        """Fail unless exactly this end was sent."""
        (end,) = self.reports(lease)
        self.assert_has(end, name='on-end', reason=reason, used_seconds=used)
        self.assertEqual(f'2030-01-01T{ended_at}.000000', end['ended_at'])
        self.assertEqual('blue', end['context']['project_id'])
        (line,) = end['lease']['reservations']
        self.assertEqual(hosts, len(line['allocations']))

    def test_the_end(self) -> None:
        lease = self.site.create(600, 2400, hosts=2)
        self.assertEqual('TERMINATED', self.site.status_at(2500, lease))
        self.assert_ended(lease, 'ended', 1800, '12:40:00', hosts=2)
        self.site.delete(lease)
        self.assert_ended(lease, 'ended', 1800, '12:40:00', hosts=2)

    def test_an_end_that_takes_long_is_not_charged(self) -> None:
        lease = self.site.create(600, 2400, until=2390)
        self.site.cloud.reachable = False
        self.site.until(2450)
        self.assertEqual([], self.reports(lease))
        self.site.cloud.reachable = True
        self.site.until(2500)
        self.assert_ended(lease, 'ended', 1800, '12:40:00')

    def test_deleted_before_it_began(self) -> None:
        lease = self.site.create(600, 2400, until=100)
        self.site.delete(lease)
        self.assert_ended(lease, 'deleted', 0, '12:01:40')

    def test_deleted_while_it_is_used(self) -> None:
        lease = self.site.create(600, 2400, until=1000)
        self.site.delete(lease)
        self.site.cloud.reachable = False
        self.site.until(1060)
        self.site.cloud.reachable = True
        self.assertEqual('gone', self.site.status_at(1100, lease))
        self.assert_ended(lease, 'deleted', 400, '12:16:40')

    def test_shortened(self) -> None:
        lease = self.site.create(600, 2400, until=1000)
        self.site.update(lease, end=1200)
        self.site.until(1300)
        asked, committed, ended = self.reports(lease)
        self.assertEqual(
            ['check-update', 'commit', 'on-end'], [asked['name'], committed['name'], ended['name']]
        )
        self.assertEqual(600, ended['used_seconds'])

    def test_a_start_that_fails(self) -> None:
        lease = self.site.create(600, 2400, until=599)
        self.site.cloud.fail('compute.add_host', error='permanent')
        self.assertEqual('ERROR', self.site.status_at(700, lease))
        self.assert_ended(lease, 'start_failed', 0, '12:10:00')
        # Neither its end nor its deletion is sent again.
        self.site.until(2500)
        self.site.delete(lease)
        self.assertEqual('gone', self.site.settled(lease))
        self.assert_ended(lease, 'start_failed', 0, '12:10:00')

    def test_deleted_while_its_start_is_tried(self) -> None:
        lease = self.site.create(600, 2400, until=599)
        self.site.cloud.reachable = False
        self.assertEqual('STARTING', self.site.status_at(690, lease))
        self.site.delete(lease)
        self.site.cloud.reachable = True
        self.assertEqual('gone', self.site.status_at(800, lease))
        self.assert_ended(lease, 'deleted', 0, '12:11:30')

    def test_it_ends_while_its_start_is_tried(self) -> None:
        lease = self.site.create(600, 660, until=599)
        self.site.cloud.reachable = False
        self.site.until(670)
        self.site.cloud.reachable = True
        self.assertEqual('TERMINATED', self.site.status_at(800, lease))
        self.assert_ended(lease, 'ended', 0, '12:11:00')

    def test_a_lease_that_no_manager_could_start(self) -> None:
        lease = self.site.create(600, 2400)
        self.site.away_until(3000)
        self.assertEqual('TERMINATED', self.site.status_at(3001, lease))
        self.assert_ended(lease, 'ended', 0, '12:40:00')

    def test_the_service_is_unavailable_when_the_lease_ends(self) -> None:
        lease = self.site.create(600, 2400)
        self.site.work()
        self.site.manager.charges = _Deaf()
        self.site.until(2500)
        self.site.manager = self.site.add_manager()
        self.assert_ended(lease, 'ended', 1800, '12:40:00')

    def test_a_manager_dies_before_it_settles(self) -> None:
        lease = self.site.create(600, 2400, until=2399)
        self.site.away_until(2400)
        self.site.add_manager().die_after('effect')
        self.site.until(2500)
        self.assert_ended(lease, 'ended', 1800, '12:40:00')


class _Deaf:
    """A sender that sends nothing."""

    def send_once(self) -> int:
        """Send nothing."""
        return 0


class TestUndone(_Ends):
    """A change that the cloud refuses is taken back."""

    def test_a_change_that_is_undone(self) -> None:
        lease = self.site.create(600, 2400, until=1000)
        self.site.cloud.fail('compute.add_host', error='permanent')
        self.site.update(lease, end=3000, hosts=2)
        self.assertEqual('ACTIVE', self.site.status_at(1100, lease))
        asked, committed, released = self.reports(lease)
        self.assertEqual(
            ['check-update', 'commit', 'release'],
            [asked['name'], committed['name'], released['name']],
        )
        self.assertEqual({asked['id']}, {committed['id'], released['id']})
        self.assertNotIn('undone', committed)
        self.assertIs(True, released['undone'])
        (line,) = released['lease']['reservations']
        self.assertEqual((1, 1), (line['min'], len(line['allocations'])))
        now = self.site.now(lease)
        found = released['lease']['end_date']
        self.assertEqual(now.period.end.strftime('%Y-%m-%dT%H:%M:%S.%f'), found)

    def test_a_change_that_works(self) -> None:
        lease = self.site.create(600, 2400, until=1000)
        self.site.update(lease, hosts=2)
        self.site.until(1100)
        self.assertEqual(['check-update', 'commit'], [item['name'] for item in self.reports(lease)])
