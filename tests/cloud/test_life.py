# SPDX-License-Identifier: Apache-2.0
"""The life of leases of hosts on a real cloud, when nothing is wrong."""

from __future__ import annotations

from tests.cloud.base import CloudTest
from tests.cloud.base import PROMPT
from tests.cloud.base import reservation
from tests.cloud.base import smoke
from tests.cloud.people import soon
from tests.cloud.people import time
from tests.cloud.people import within
from tests.cloud.waiting import until

NOTICE = 10  # seconds before the start


class WholeLifeTest(CloudTest):
    """One lease of one host, from its booking to after its end."""

    @smoke
    def test_whole_life(self) -> None:
        lease = self.book(
            self.alice,
            15,
            notify=[NOTICE],
            before_end='snapshot',
            # By default, a lease this short is warned of its end at once.
            before_end_date=within(300).isoformat(),
        )
        self.assertEqual('PENDING', lease['status'])
        self.check_notice(lease)
        lease = self.await_active(self.alice, lease)
        self.check_aggregate(lease)
        server = self.check_servers(lease)
        self.check_extension(lease)
        image = self.check_snapshot(lease, server)
        self.check_end(lease, server)
        self.assertEqual('active', self.alice.sdk.image.get_image(image).status)

    def check_notice(self, lease: dict) -> None:
        """Subscribers are notified in time that the lease starts soon."""
        notified = self.bus.wait_for(lease['id'], 'lease.event.before_start_lease', PROMPT)
        payload = notified['payload']
        # It may be sent late on a busy machine, but then it has the delay.
        self.assertAlmostEqual(
            NOTICE, payload['seconds_to_start'] + payload['late_by_seconds'], delta=1.5
        )
        self.assert_has(payload, status='PENDING', project_id=self.alice.project_id)
        self.assertLess(time(notified['timestamp']), time(lease['start_date']))
        self.assertEqual([], self.members(reservation(lease)))

    def check_aggregate(self, lease: dict) -> None:
        """Nova has what its filter, and users, know leased hosts by."""
        name = reservation(lease)
        aggregate = self.aggregate(name)
        self.assertEqual(list(self.lent), aggregate.hosts)
        self.assertEqual(f'blazar_{name}', aggregate.metadata['availability_zone'])
        self.assertEqual(self.alice.project_id, aggregate.metadata['blazar:owner'])
        self.assertEqual([], self.members(self.cloud.freepool))

    def check_servers(self, lease: dict) -> str:
        """The owner's server with the hint lands on the leased host, and no other."""
        wanted = self.boot(self.alice, lease, network=True)
        stolen = self.boot(self.bob, lease)
        others = [self.boot(self.alice), self.boot(self.bob)]
        self.assertEqual('ACTIVE', self.alice.settled(wanted))
        self.assertEqual('ERROR', self.bob.settled(stolen))
        self.assertEqual('ACTIVE', self.alice.settled(others[0]))
        self.assertEqual('ACTIVE', self.bob.settled(others[1]))
        self.assertIn(self.host_of(wanted), self.lent)
        for other in others:
            self.assertNotIn(self.host_of(other), self.lent)
        return wanted

    def check_extension(self, lease: dict) -> None:
        """An active lease is prolonged, and nothing happens to it."""
        wanted = within(3600)
        longer = self.alice.update_lease(lease['id'], end_date=wanted.isoformat())
        self.assertEqual(wanted, time(longer['end_date']))
        self.bus.wait_for(lease['id'], 'lease.update', PROMPT)
        self.assertEqual('ACTIVE', self.alice.lease(lease['id'])['status'])
        self.assertEqual(list(self.lent), self.members(reservation(lease)))

    def check_snapshot(self, lease: dict, server: str) -> str:
        """Before the end subscribers are notified, and an image of each server is made."""
        self.alice.update_lease(lease['id'], before_end_date=soon(1).isoformat())
        notified = self.bus.wait_for(lease['id'], 'lease.event.before_end_lease', PROMPT)
        self.assertGreater(notified['payload']['seconds_to_end'], 3000)
        name = f'reserved_{self.alice.sdk.compute.get_server(server).name}'

        def image() -> str | None:
            found = list(self.alice.sdk.image.images(name=name))
            return found[0].id if found and found[0].status == 'active' else None

        return until(image, PROMPT, f'image {name} is active')

    def check_end(self, lease: dict, server: str) -> None:
        """At a shortened end servers go, and everything is as before."""
        shorter = self.alice.update_lease(lease['id'], end_date=soon(2).isoformat())
        self.await_terminated(self.alice, shorter)
        self.assertEqual('GONE', self.alice.status(server))
        self.assert_free(self.lent, lease)
        self.bus.hear_all(
            lease['id'],
            [
                'lease.create',
                'lease.event.before_start_lease',
                'lease.event.start_lease',
                'lease.update',
                'lease.update',
                'lease.event.before_end_lease',
                'lease.update',
                'lease.server.deleted',
                'lease.event.end_lease',
            ],
            PROMPT,
        )
        # What was leased is nobody's now.
        late = self.boot(self.alice, lease)
        self.assertEqual('ERROR', self.alice.settled(late))


class DeletionTest(CloudTest):
    """Leases that are given back before their end; and one of several hosts."""

    hosts = 2

    def test_delete_of_an_active_lease_of_two_hosts_with_servers(self) -> None:
        lease = self.book(self.alice, 2, hosts=2)
        lease = self.await_active(self.alice, lease)
        self.assertEqual(sorted(self.lent), self.members(reservation(lease)))
        first = self.boot(self.alice, lease)
        self.assertEqual('ACTIVE', self.alice.settled(first))
        second = self.boot(self.alice, lease, different_host=[first])
        self.assertEqual('ACTIVE', self.alice.settled(second))
        self.assertEqual(set(self.lent), {self.host_of(first), self.host_of(second)})

        self.alice.delete_lease(lease['id'])
        self.await_gone(self.alice, lease)
        self.assertEqual(['GONE'] * 2, [self.alice.status(each) for each in (first, second)])
        self.assert_free(self.lent, lease)
        self.bus.hear_all(
            lease['id'],
            [
                'lease.create',
                'lease.event.start_lease',
                # Ten minutes before the end, and an hour would have been the rule.
                'lease.event.before_end_lease',
                'lease.server.deleted',
                'lease.server.deleted',
                'lease.delete',
            ],
            PROMPT,
        )

    def test_delete_of_a_lease_that_is_prepared(self) -> None:
        lease = self.book(self.alice, 45)
        # A minute before the start its aggregate is made, without hosts.
        until(lambda: self.aggregate(reservation(lease)), 20, 'the lease is prepared')
        self.alice.delete_lease(lease['id'])
        self.await_gone(self.alice, lease)
        self.assert_free(self.lent, lease)
        self.bus.hear_all(lease['id'], ['lease.create', 'lease.delete'], PROMPT)

    def test_delete_of_another_users_lease(self) -> None:
        lease = self.book(self.alice, 3600)
        self.assertFalse(self.bob.knows(lease['id']))
        self.assertEqual(404, self.bob.call('DELETE', f'/leases/{lease["id"]}').status_code)
        self.assertEqual('PENDING', self.alice.lease(lease['id'])['status'])
        self.alice.delete_lease(lease['id'])
        self.assertFalse(self.alice.knows(lease['id']))
