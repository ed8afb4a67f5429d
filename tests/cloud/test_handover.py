# SPDX-License-Identifier: Apache-2.0
"""Leases of one host, one right after the other, and owners who go away."""

from __future__ import annotations

from keystoneauth1.exceptions import Unauthorized

from tests.cloud.base import CloudTest
from tests.cloud.base import reservation
from tests.cloud.people import soon
from tests.cloud.people import time
from tests.cloud.people import within
from tests.cloud.waiting import until


class HandoverTest(CloudTest):
    """Alice's lease ends at the instant at which Bob's begins."""

    def test_servers_that_take_long_to_go_keep_the_next_lease_waiting(self) -> None:
        (host,) = self.lent
        first = self.await_active(self.alice, self.book(self.alice, 2, 600))
        server = self.boot(self.alice, first)
        self.assertEqual('ACTIVE', self.alice.settled(server))
        # Nova asks the compute host for the deletion, which it receives when it
        # is back.
        self.house.stop(self.compute_process(host))
        change = soon(6)
        first = self.alice.update_lease(first['id'], end_date=change.isoformat())
        second = self.book(self.bob, 0, 600, start_date=first['end_date'])
        self.assertEqual(first['end_date'], second['start_date'])

        until(lambda: self.going(server), 30, 'the server is asked to go')
        # Twice what an ordinary handover takes at most.
        until(lambda: self.still_waits(first, second, host, 10), 30, 'Bob has waited for 10 s')
        self.house.start(self.compute_process(host))
        self.await_status(self.bob, second, 'ACTIVE', 60)

        self.assertEqual('TERMINATED', self.alice.lease(first['id'])['status'])
        self.assertEqual('GONE', self.alice.status(server))
        self.assertIsNone(self.aggregate(reservation(first)))
        self.assertEqual([host], self.members(reservation(second)))
        self.assertEqual([], self.servers_on(host))
        # The host receives its requests before Nova has seen a sign of life of it.
        until(lambda: self.compute_service(host).state == 'up', 30, 'the host is up again')
        self.check_notifications(first, second)
        self.check_who_gets_in(first, second, host)

    def going(self, server: str) -> bool:
        """Return whether Nova has been asked for the deletion of a server."""
        return self.admin.sdk.compute.get_server(server).task_state == 'deleting'

    def still_waits(self, first: dict, second: dict, host: str, seconds: float) -> bool:
        """Return whether so much time has passed; nothing of Bob's may have begun."""
        self.assertEqual('TERMINATING', self.alice.lease(first['id'])['status'])
        self.assertEqual('PENDING', self.bob.lease(second['id'])['status'])
        self.assertEqual([host], self.members(reservation(first)))
        self.assertEqual([], self.members(reservation(second)))
        self.assertEqual([], self.members(self.cloud.freepool))
        return within(-seconds) > time(second['start_date'])

    def check_notifications(self, first: dict, second: dict) -> None:
        """Bob is notified how late it became, and after Alice's end."""
        ended = self.bus.wait_for(first['id'], 'lease.event.end_lease', 15)
        started = self.bus.wait_for(second['id'], 'lease.event.start_lease', 15)
        self.assertLess(ended['timestamp'], started['timestamp'])
        self.assertGreater(started['payload']['late_by_seconds'], 10)

    def check_who_gets_in(self, first: dict, second: dict, host: str) -> None:
        mine = self.boot(self.bob, second)
        hers = self.boot(self.alice, first)
        self.assertEqual(('ACTIVE', host), (self.bob.settled(mine), self.host_of(mine)))
        self.assertEqual('ERROR', self.alice.settled(hers))

    def test_no_wait_without_servers(self) -> None:
        first = self.await_active(self.alice, self.book(self.alice, 2, 600))
        first = self.alice.update_lease(first['id'], end_date=soon(3).isoformat())
        second = self.book(self.bob, 0, 600, start_date=first['end_date'])
        self.await_active(self.bob, second)
        self.assertEqual(list(self.lent), self.members(reservation(second)))
        self.assertEqual('TERMINATED', self.alice.lease(first['id'])['status'])


class OwnerTest(CloudTest):
    """Users come and go; a lease is the project's."""

    def setUp(self) -> None:
        super().setUp()
        identity = self.admin.sdk.identity
        self.project = identity.find_project(self.alice.project)
        self.user = identity.find_user(self.cloud.account('alice'))
        self.role = identity.find_role('member')

    def test_the_owner_is_removed_from_the_project(self) -> None:
        lease = self.await_active(self.alice, self.book(self.alice, 2))
        server = self.boot(self.alice, lease)
        self.assertEqual('ACTIVE', self.alice.settled(server))
        self.remove_owner()
        until(self.is_shut_out, 30, 'Alice is not let in any more')
        lease = self.admin.update_lease(lease['id'], end_date=soon(2).isoformat())
        self.await_terminated(self.admin, lease)
        until(lambda: self.servers_on(self.lent[0]) == [], 5, 'the server is gone')
        self.assert_free(self.lent, lease)
        self.bus.wait_for(lease['id'], 'lease.event.end_lease', 15)

    def remove_owner(self) -> None:
        identity = self.admin.sdk.identity
        self.addCleanup(identity.assign_project_role_to_user, self.project, self.user, self.role)
        identity.unassign_project_role_from_user(self.project, self.user, self.role)

    def is_shut_out(self) -> bool:
        """Return whether Keystone gives Alice no token for the project."""
        token = self.person('alice').sdk.session.get_token
        try:
            token()
        except Unauthorized:
            return True
        return False
