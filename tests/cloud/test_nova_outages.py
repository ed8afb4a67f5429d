# SPDX-License-Identifier: Apache-2.0
"""Leases that start and end while Nova is away, and compute hosts in trouble."""

from __future__ import annotations

from climate.conf import manager as manager_options
from tests.cloud.base import CloudTest
from tests.cloud.base import PROMPT
from tests.cloud.base import reservation
from tests.cloud.people import now
from tests.cloud.people import soon
from tests.cloud.people import time
from tests.cloud.waiting import until

# A poll of the managers, and a look of theirs after it.
NOTICED = 180.0

# Long enough for tries that grow further apart, and fail.
OUTAGE = 25.0


class NovaAwayTest(CloudTest):
    """The API of Nova is stopped for a while."""

    hosts = 2
    alone = True

    def test_a_start_and_an_end_in_the_outage(self) -> None:
        ending = self.await_active(self.bob, self.book(self.bob, 2, 600))
        server = self.boot(self.bob, ending)
        self.assertEqual('ACTIVE', self.bob.settled(server))
        starting = self.book(self.alice, 5)
        ending = self.bob.update_lease(ending['id'], end_date=soon(5).isoformat())

        began = now()
        with self.house.without('nova-api'):
            self.await_status(self.alice, starting, 'STARTING', self.left(starting, 'start_date'))
            self.await_status(self.bob, ending, 'TERMINATING', self.left(ending, 'end_date'))
            # What needs no Nova goes on.
            later = self.book(self.alice, 3600)
            self.alice.delete_lease(later['id'])
            until(lambda: (now() - began).total_seconds() > OUTAGE, OUTAGE + 5, 'a while is over')
            self.assertEqual('STARTING', self.alice.lease(starting['id'])['status'])
            self.assertEqual('TERMINATING', self.bob.lease(ending['id'])['status'])
        longest = self.longest_pause()
        self.await_status(self.alice, starting, 'ACTIVE', longest + PROMPT)
        self.await_status(self.bob, ending, 'TERMINATED', longest + PROMPT)
        self.check_lateness(starting, ending)
        self.assertEqual('GONE', self.bob.status(server))
        self.assertIsNone(self.aggregate(reservation(ending)))
        self.assertEqual(1, len(self.members(reservation(starting))))
        self.assertEqual(1, len(self.members(self.cloud.freepool)))
        late = self.boot(self.alice, starting)
        self.assertEqual('ACTIVE', self.alice.settled(late))

    def longest_pause(self) -> float:
        """Return how long a manager waits at most between two tries."""
        (option,) = [each for each in manager_options.OPTS if each.name == 'retry_longest_pause']
        return float(option.default)

    def check_lateness(self, starting: dict, ending: dict) -> None:
        """Subscribers are notified how late it became."""
        for lease, event in ((starting, 'start_lease'), (ending, 'end_lease')):
            due = time(lease[event.replace('lease', 'date')])
            notification = self.bus.wait_for(lease['id'], f'lease.event.{event}', 15)['payload']
            self.assertGreater(notification['late_by_seconds'], OUTAGE - 10)
            self.assertLessEqual(notification['late_by_seconds'], (now() - due).total_seconds())


class ComputeTest(CloudTest):
    """A compute host is disabled, or its process is away."""

    def disable(self, host: str) -> None:
        self.admin.sdk.compute.disable_service(self.compute_service(host))

    def enable(self, host: str) -> None:
        self.admin.sdk.compute.enable_service(self.compute_service(host))

    def test_disabled_in_the_pool_and_while_leased(self) -> None:
        (host,) = self.lent
        self.disable(host)
        # Nova takes no servers there, so nobody is given the host.
        until(lambda: not self.reservable(host), NOTICED, f'{host} is out of the pool')
        self.assertRaisesRegex(AssertionError, 'NOT_ENOUGH', self.book, self.alice, 2, 600)
        self.enable(host)
        until(lambda: self.reservable(host), NOTICED, f'{host} is back')
        lease = self.await_active(self.alice, self.book(self.alice, 2, 600))
        self.assertEqual([host], self.members(reservation(lease)))
        server = self.boot(self.alice, lease)
        self.assertEqual('ACTIVE', self.alice.settled(server))
        # With a server on it the host stays with its lease, whose owner is notified.
        self.disable(host)
        self.bus.wait_for(lease['id'], 'lease.degraded', 30)
        self.assertEqual([host], self.members(reservation(lease)))
        self.alice.update_lease(lease['id'], end_date=soon(2).isoformat())
        self.await_terminated(self.alice, self.alice.lease(lease['id']))
        self.assertEqual('GONE', self.alice.status(server))
        self.assert_free(self.lent, lease)
        # Whoever disabled it decides when it is enabled again.
        self.assertEqual('disabled', self.compute_service(host).status)

    def test_the_process_of_a_leased_host_is_down(self) -> None:
        (host,) = self.lent
        process = self.compute_process(host)
        lease = self.await_active(self.alice, self.book(self.alice, 2, 600))
        with self.house.without(process):
            stopped = now()
            asked = self.boot(self.alice, lease)
            self.assertEqual('BUILD', self.alice.status(asked))
            self.assertEqual('ACTIVE', self.alice.lease(lease['id'])['status'])
        self.house.await_heartbeats(stopped)
        self.assertEqual('ACTIVE', self.alice.settled(asked))
        self.assertEqual([host], self.members(reservation(lease)))
        self.alice.delete_lease(lease['id'])
        self.await_gone(self.alice, lease)
        self.assertEqual('GONE', self.alice.status(asked))
        self.assert_free(self.lent, lease)
        self.assertLess(time(lease['start_date']), stopped)
