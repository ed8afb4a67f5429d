# SPDX-License-Identifier: Apache-2.0
"""Leases while what Climate itself leans on is away: Keystone, bus, database, memcached."""

from __future__ import annotations

import contextlib
import urllib.parse
from collections.abc import Iterator
from typing import Any

import amqp
from testtools import content

from climate.messaging import listener
from tests.cloud.base import CloudTest
from tests.cloud.base import reservation
from tests.cloud.house import PATIENCE
from tests.cloud.people import now
from tests.cloud.people import Person
from tests.cloud.waiting import until
from tools.cloud import processes

# How long Nova may take to build a server, in seconds: a call whose answer was lost
# fails after 30 s.
BUILD = 75.0
# How long Nova may take to recover, in seconds: several daemons take part in a build, and
# each of them reconnects by itself.
RECOVERY = 300.0


class OutageTest(CloudTest):
    """Something is stopped while leases are booked, and one starts."""

    hosts = 2
    alone = True

    def asked(self, person: Person, body: dict[str, Any]) -> Any:
        """Try to book, and return the response: it comes while what is away is away."""
        return person.call('POST', '/leases', body)

    def check_lands(self, person: Person, lease: dict[str, Any]) -> None:
        """Check that the leased host takes the owner's server once Nova has recovered."""
        faults: list[str] = []
        try:
            until(
                lambda: self.lands(person, lease, faults),
                RECOVERY,
                'a server is built on the leased host',
            )
        finally:
            self.addDetail('faults', content.text_content('\n'.join(faults)))

    def lands(self, person: Person, lease: dict[str, Any], faults: list[str]) -> bool:
        """Return whether Nova builds a server, and check that it is on the leased host.

        Nova's daemons reconnect one after the other, and a heartbeat through the
        database does not show that a daemon reads its queue again: a request that
        comes too early fails within Nova.

        :param faults: what Nova says of a server that it did not build is appended
        """
        server = self.boot(person, lease)
        try:
            status = person.settled(server, BUILD)
        except AssertionError:
            status = 'BUILD'
        if status == 'ACTIVE':
            self.assertEqual(self.members(reservation(lease)), [self.host_of(server)])
            return True
        fault = person.sdk.compute.get_server(server).fault
        faults.append(f'{now()} {server} is {status}: {fault}')
        person.sdk.compute.delete_server(server)
        self.announce(lease)
        return False

    def announce(self, lease: dict[str, Any]) -> None:
        """Let Nova send its schedulers again which hosts are in the lease's aggregate.

        They learn it from a message only. One that Nova sends before a scheduler has
        reconnected to the broker is lost, and the scheduler finds no host for the lease
        from then on. The troubleshooting page describes the same.
        """
        found = self.aggregate(reservation(lease))
        # By its id: the SDK does not send a name that it takes for unchanged.
        self.admin.sdk.compute.update_aggregate(found.id, name=found.name)

    def check_ends(self, lease: dict[str, Any]) -> None:
        """It ends as if nothing had been."""
        hosts = self.members(reservation(lease))
        self.alice.delete_lease(lease['id'])
        self.await_gone(self.alice, lease, PATIENCE)
        self.assert_free(hosts, lease)

    def test_keystone_is_restarted(self) -> None:
        self.alice.leases()
        starting = self.book(self.alice, 6)
        stranger = self.person('bob')
        self.assertTrue(stranger.sdk.session.get_token())
        with self.house.without('keystone'):
            # One whose token was seen lately is let in; about a new one
            # Climate cannot know, and says so instead of guessing.
            known = self.asked(self.alice, self.lease_body(3600))
            self.assertIn(known.status_code, (201, 503), known.text)
            unknown = self.asked(stranger, self.lease_body(3600))
            self.assertEqual(503, unknown.status_code, unknown.text)
            until(lambda: self.is_past(starting, 'start_date'), 60, 'the start is past')
        self.await_status(self.alice, starting, 'ACTIVE', 30)
        again = self.asked(stranger, self.lease_body(7200))
        self.assertEqual(201, again.status_code, again.text)
        names = {each['id'] for each in self.admin.leases()}
        accepted = [
            each.json()['lease']['id'] for each in (known, again) if each.status_code == 201
        ]
        self.assertLessEqual({starting['id'], *accepted}, names)
        self.check_lands(self.alice, starting)
        self.check_ends(starting)

    def test_memcached_is_down(self) -> None:
        # Its client looks for a memcached that was away again after minutes
        # only, and the tests after this one had better not be slower for it.
        self.addCleanup(processes.restart, self.cloud, 'climate-api')
        with self.house.without('memcached'):
            response = self.asked(self.alice, self.lease_body(5))
            self.assertEqual(201, response.status_code, response.text)
            lease = self.await_status(self.alice, response.json()['lease'], 'ACTIVE', 20)
            self.check_lands(self.alice, lease)
        self.check_ends(lease)

    def test_the_database_is_restarted(self) -> None:
        starting = self.book(self.alice, 6)
        with self.house.without('mariadb'):
            response = self.asked(self.alice, self.lease_body(3600))
            self.assertEqual(503, response.status_code, response.text)
            self.assertNotIn('pymysql', response.text)
            until(lambda: self.is_past(starting, 'start_date'), 60, 'the start is past')
        until(self.books, 30, 'Climate books again')
        self.await_status(self.alice, starting, 'ACTIVE', 40)
        self.check_lands(self.alice, starting)
        self.check_ends(starting)
        self.bus.hear_all(
            starting['id'],
            [
                'lease.create',
                'lease.event.start_lease',
                'lease.event.before_end_lease',
                'lease.server.deleted',
                'lease.delete',
            ],
            15,
        )

    def books(self) -> bool:
        """Return whether a lease can be booked."""
        return self.asked(self.alice, self.lease_body(3600)).status_code == 201

    def test_the_bus_is_restarted(self) -> None:
        starting = self.book(self.alice, 8)
        with self.house.without('rabbit'):
            response = self.asked(self.alice, self.lease_body(3600))
            self.assertEqual(201, response.status_code, response.text)
            booked = response.json()['lease']
            until(lambda: self.is_past(starting, 'start_date', 5), 60, 'the start is past')
        # Nova needs the bus as well: no host is moved before it is back.
        self.await_status(self.alice, starting, 'ACTIVE', 60)
        with self.usual_queue() as queue:
            queue.wait_for(booked['id'], 'lease.create', 30)
            queue.wait_for(starting['id'], 'lease.event.start_lease', 30)
        self.house.await_heartbeats(now())
        self.check_lands(self.alice, starting)
        self.check_ends(starting)

    def test_the_scheduler_misses_a_start(self) -> None:
        """An operator does what the troubleshooting page says."""
        starting = self.book(self.alice, 8)
        self.house.stop('rabbit')
        self.house.freeze('nova-scheduler')
        self.house.start('rabbit')
        self.await_status(self.alice, starting, 'ACTIVE', 90)
        self.house.thaw('nova-scheduler')
        self.house.await_heartbeats(now())
        self.assertFalse(self.lands(self.alice, starting, []))
        self.check_lands(self.alice, starting)
        self.check_ends(starting)

    @contextlib.contextmanager
    def usual_queue(self) -> Iterator[UsualQueue]:
        """Read the queue that senders of notifications make.

        A queue of one's own has to be made again after a restart of the
        broker, and what is sent before that goes to the usual one only.
        """
        url = urllib.parse.urlsplit(self.cloud.transport_url)
        connection = amqp.Connection(
            host=f'{url.hostname}:{url.port}', userid=url.username, password=url.password
        )
        connection.connect()
        try:
            yield UsualQueue(connection.channel())
        finally:
            connection.close()


class UsualQueue:
    """Takes notifications out of the usual queue; nobody else does in this cloud."""

    def __init__(self, channel: Any) -> None:
        self._channel = channel
        self._heard: list[tuple[str, str]] = []

    def wait_for(self, lease_id: str, event_type: str, seconds: float) -> None:
        """Return when a notification of a lease has come."""
        until(lambda: (lease_id, event_type) in self._read(), seconds, f'{event_type} comes')

    def _read(self) -> list[tuple[str, str]]:
        while (message := self._channel.basic_get('notifications.info', no_ack=True)) is not None:
            envelope = listener.content(message.body)
            if envelope is not None and isinstance(envelope.get('payload'), dict):
                about = envelope['payload'].get('lease_id', '')
                self._heard.append((about, envelope['event_type']))
        return self._heard
