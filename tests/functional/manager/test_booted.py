# SPDX-License-Identifier: Apache-2.0

"""Servers get leases by being booted: one each, whichever manager is notified, and how often."""

from __future__ import annotations

import concurrent.futures
import datetime
import uuid

import fixtures
from oslo_config import cfg
from oslo_policy import opts as policy_opts

from climate import exceptions
from climate.cloud.base import Server
from climate.cmd import managing
from climate.domain import booting
from climate.domain.booting import ServerReport
from climate.domain.leases import Lease
from climate.domain.requests import LeaseChange
from climate.policies import leases as lease_policies
from tests import services
from tests.functional.manager import booted
from tests.functional.manager import harness
from tests.narrowing import present

HOUR = datetime.timedelta(hours=1)


class TestBooted(booted.BootedCase):
    """The reports on one server."""

    def report(self, server: Server, *, gone: bool = False) -> bool:
        return self.keeper.receive(ServerReport(server_id=server.id, gone=gone))

    def lease(self, server: Server) -> Lease:
        """Return the only lease, which the server knows of."""
        (lease,) = self.leases()
        self.assertEqual({'climate:lease_id': lease.id}, self.metadata(server))
        return lease

    def test_from_now_on(self) -> None:
        server = self.boot(lease_duration='1h', on_end='stop', lease_name='mine')
        self.assertFalse(self.report(server))
        lease = self.lease(server)
        self.assertEqual(
            ('mine', 'blue', 'alice', harness.NOW, harness.NOW + HOUR),
            (lease.name, lease.project_id, lease.user_id, lease.period.start, lease.period.end),
        )
        (reservation,) = lease.reservations
        said = {key: reservation.request[key] for key in ('server_id', 'on_end', 'guarantee')}
        found = {**said, 'on_end': list(said['on_end'])}
        self.assertEqual({'server_id': server.id, 'on_end': ['stop'], 'guarantee': False}, found)
        self.assertEqual('ACTIVE', self.site.status_at(1, lease))

    def test_by_the_hint_of_2014(self) -> None:
        server = self.boot(booted.HINT)
        self.report(server)
        self.assertEqual('then', self.lease(server).name)

    def test_later(self) -> None:
        server = self.boot(lease_start='2030-01-01 14:00', lease_end='2030-01-01 15:00')
        self.report(server)
        lease = self.lease(server)
        self.assertEqual('PENDING', self.site.status(lease))
        # With the room for it, which comes before it.
        types = [item.resource_type for item in lease.reservations]
        self.assertEqual(['flavor:instance', 'virtual:server'], types)
        self.site.until(60)
        self.assertEqual('SHELVED_OFFLOADED', self.status(server))
        self.assertEqual({'climate:lease_id': lease.id}, self.metadata(server))
        self.site.until(7260)
        self.assertEqual('ACTIVE', self.status(server))
        self.assertEqual('TERMINATED', self.site.status_at(10860, lease))
        self.assertIsNone(self.cloud.compute.find_server(server.id))
        images = self.cloud.image.list_images(properties={'instance_uuid': server.id})
        self.assertEqual([('active', 'blue')], [(one.status, one.owner) for one in images])

    def status(self, server: Server) -> str:
        """Return Nova's word for how a server is."""
        return present(self.cloud.compute.find_server(server.id)).status

    def test_repeated_reports_change_nothing(self) -> None:
        server = self.boot(lease_duration='1h')
        for _ in range(3):
            self.report(server)
        self.keeper.look(self.cloud)
        self.site.leases.delete(harness.CALLER, self.lease(server).id, 'blue')
        self.site.until(1)
        self.report(server)
        self.assertEqual([], self.leases())

    def test_a_lease_of_before_is_remembered_without_the_mark(self) -> None:
        server = self.boot(lease_duration='1h', on_end='stop')
        self.report(server)
        lease = self.lease(server)
        self.site.until(1)
        self.site.leases.delete(harness.CALLER, lease.id, 'blue')
        self.site.until(2)
        # The mark was lost with the manager that was to write it.
        self.keeper._attend(server)
        self.assertEqual([], self.leases())
        self.assertEqual({'climate:lease_id': lease.id}, self.metadata(server))

    def test_servers_that_ask_for_nothing_and_such_that_are_gone(self) -> None:
        self.report(self.boot())
        gone = self.boot(lease_duration='1h')
        self.cloud.compute.delete_server(gone.id)
        self.assertFalse(self.report(gone))
        self.assertEqual([], self.leases())

    def test_a_server_that_is_not_ready_is_looked_at_again(self) -> None:
        server = self.boot(lease_duration='1h')
        self.cloud.set_seconds('server_action', 5)
        self.cloud.compute.stop_server(server.id)
        self.assertTrue(self.report(server))
        self.assertEqual([], self.leases())
        self.site.away_until(10)
        self.assertFalse(self.report(server))
        self.lease(server)

    def test_what_cannot_be_is_reported_once(self) -> None:
        for said, why in (
            ({'lease_end': 'tomorrow'}, "climate:lease_end: 'tomorrow' is not a time"),
            ({'lease_end': '2029-01-01 00:00'}, 'is in the past'),
            ({'lease_duration': '1h', 'on_end': 'explode'}, 'on_end'),
        ):
            server = self.boot(**said)
            self.assertFalse(self.report(server))
            self.assertIn(why, self.metadata(server)['climate:lease_error'])
            before = self.cloud.calls('compute.set_server_metadata')
            self.report(server)
            self.assertEqual(before, self.cloud.calls('compute.set_server_metadata'))
        self.assertEqual([], self.leases())

    def test_a_lease_that_its_owner_has_booked_already(self) -> None:
        server = self.boot(lease_duration='1h')
        other = self.boot(lease_duration='1h')
        self.keeper._book(server, self.wish(server), str(uuid.uuid4()))
        self.report(server)
        self.lease(server)
        # Or between our look and our booking.
        book, other_id = self.keeper._book, str(uuid.uuid4())
        self.assertRaises(exceptions.NotEnoughResources, book, server, self.wish(server), other_id)
        self.report(other)
        self.assertEqual(2, len(self.leases()))

    def wish(self, server: Server) -> booting.RequestedLease:
        """Return what a server asks for."""
        return present(booting.requested_lease(server.metadata, None, self.site.clock.now()))

    def test_each_call_that_fails_is_made_up_for(self) -> None:
        calls = ('find_server', 'scheduler_hints', 'set_server_metadata')
        for verb in calls:
            for when in ('before', 'after'):
                server = self.boot('{"duration": "1h"}')
                known = len(self.leases())
                self.cloud.fail(f'compute.{verb}', times=1, when=when)
                self.assertRaises(exceptions.ClimateError, self.report, server)
                self.assertFalse(self.report(server))
                self.assertEqual(known + 1, len(self.leases()))
                self.assertIn('climate:lease_id', self.metadata(server))

    def test_a_begun_lease_is_finished_under_the_same_id(self) -> None:
        server = self.boot(lease_duration='1h')
        self.cloud.fail('compute.set_server_metadata', times=1, when='after')
        self.assertRaises(exceptions.Transient, self.report, server)
        self.assertEqual([], self.leases())
        begun = self.metadata(server)
        self.report(server)
        self.assertEqual({'climate:lease_id': self.lease(server).id}, begun)

    def test_a_lease_that_was_deleted_before_it_started_does_not_come_back(self) -> None:
        server = self.boot(lease_start='2030-01-01 14:00', lease_duration='1h')
        self.report(server)
        self.site.leases.delete(harness.CALLER, self.lease(server).id, 'blue')
        self.site.until(1)
        self.report(server)
        self.assertEqual([], self.leases())

    def test_what_owners_write_there_themselves(self) -> None:
        others = self.site.create(3600, 7200)
        for said in (
            {'lease_id': 'x'},
            {'lease_id': str(uuid.uuid4())},
            {'lease_id': others.id.upper()},
            {'reservation': str(uuid.uuid4())},
        ):
            server = self.boot(lease_duration='1h', **said)
            self.assertFalse(self.report(server))
            metadata = self.metadata(server)
            self.assertEqual(['climate:lease_id'], list(metadata))
            self.assertIn(metadata['climate:lease_id'], [lease.id for lease in self.leases()])
            self.assertNotEqual(said.get('lease_id'), metadata['climate:lease_id'])
        self.assertEqual(5, len(self.leases()))
        # Of a lease of another project nothing is taken over.
        self.report(self.boot(project_id='red', lease_duration='1h', lease_id=others.id))
        self.assertEqual(6, len(self.leases()))

    def test_a_server_that_a_lease_has_booted(self) -> None:
        booked = self.site.create(0, 7200)
        server = self.boot(lease_duration='1h', reservation=self.of_a_server(booked, {}))
        # Nova was quicker than whoever is to remember what it has answered.
        self.assertTrue(self.report(server))
        self.of_a_server(booked, {'server_id': server.id})
        self.assertFalse(self.report(server))
        self.assertEqual([booked.id], [lease.id for lease in self.leases()])

    def test_metadata_that_nova_refuses_for_good(self) -> None:
        log = self.useFixture(fixtures.FakeLogger())
        server = self.boot(lease_duration='1h')
        self.cloud.fail('compute.set_server_metadata', error='permanent', times=1)
        self.assertFalse(self.report(server))
        self.assertEqual(1, len(self.leases()))
        self.assertIn('its metadata cannot be set', log.output)

    def test_deleted_before_the_end(self) -> None:
        server = self.boot(lease_duration='1h')
        self.report(server)
        lease = self.lease(server)
        self.site.until(60)
        self.cloud.compute.delete_server(server.id)
        for _ in range(2):
            self.assertFalse(self.report(server, gone=True))
        self.assertEqual('TERMINATED', self.site.status_at(61, lease))
        self.assertFalse(self.report(server, gone=True))

    def test_nova_is_asked_whether_a_server_was_deleted(self) -> None:
        """Whoever can write to the bus cannot end leases."""
        server = self.boot(lease_duration='1h')
        self.report(server)
        lease = self.lease(server)
        self.site.until(60)
        self.assertFalse(self.report(server, gone=True))
        self.assertEqual('ACTIVE', self.site.status_at(61, lease))
        # One that is going is looked at again.
        self.cloud.set_seconds('server_deletion', 5)
        self.cloud.compute.delete_server(server.id)
        self.assertTrue(self.report(server, gone=True))
        self.site.away_until(70)
        self.assertFalse(self.report(server, gone=True))
        self.assertEqual('TERMINATED', self.site.status_at(71, lease))

    def test_who_may_not_create_leases_gets_none(self) -> None:
        """What policy says of the owner, with the roles that Keystone knows."""
        conf = cfg.ConfigOpts()
        conf([])
        conf.register_opt(cfg.StrOpt('auth_strategy', default='keystone'))
        policy_opts.set_defaults(conf, policy_file=None)
        may = present(managing.policy(conf))
        self.keeper = self.add_manager(may=lambda caller: may(caller, lease_policies.CREATE))
        server = self.boot(lease_duration='1h')
        self.cloud.put_member('alice', 'blue', 'reader')
        self.report(server)
        self.assertEqual([], self.leases())
        self.assertIn('policy', self.metadata(server)['climate:lease_error'])
        self.cloud.put_member('alice', 'blue', 'member')
        self.report(self.boot(lease_duration='1h'))
        self.assertEqual(1, len(self.leases()))

    def test_deleted_before_the_start(self) -> None:
        server = self.boot(lease_start='2030-01-01 14:00', lease_duration='1h')
        self.report(server)
        lease = self.lease(server)
        self.cloud.compute.delete_server(server.id)
        self.report(server, gone=True)
        self.assertEqual('gone', self.site.status_at(1, lease))

    def test_prolonged_as_any_other(self) -> None:
        server = self.boot(lease_duration='1h')
        self.report(server)
        lease = self.lease(server)
        self.site.until(1)
        change = LeaseChange(end=harness.at(7200), grain=datetime.timedelta(0))
        self.site.leases.update(harness.CALLER, lease.id, 'blue', change)
        self.assertEqual('ACTIVE', self.site.status_at(3601, lease))

    def test_many_managers_are_notified_at_once(self) -> None:
        server = self.boot(lease_duration='1h')
        keepers = [self.add_manager() for _ in range(8)]
        news = ServerReport(server_id=server.id)
        with concurrent.futures.ThreadPoolExecutor(len(keepers)) as pool:
            again = list(pool.map(lambda keeper: keeper.receive(news), keepers))
        self.assertIn(False, again)
        self.lease(server)

    def test_a_manager_that_dies_does_not_keep_a_server(self) -> None:
        server = self.boot(lease_duration='1h')
        dead, until = 'dead', harness.at(60)
        name = f'server {server.id}'
        self.site.store.run(lambda tx: tx.chores.take(name, dead, until))
        self.assertTrue(self.report(server))
        self.assertEqual([], self.leases())
        self.site.away_until(61)
        self.assertFalse(self.report(server))
        self.lease(server)


class TestBootedPostgresql(TestBooted):
    """The same on PostgreSQL."""

    kind = services.POSTGRESQL


class TestLook(booted.BootedCase):
    """What was missed is found by asking Nova."""

    def look(self) -> None:
        self.site.away_until(self.site.seconds() + 120)
        self.keeper.look(self.cloud)

    def test_servers_since_the_first_look(self) -> None:
        before = self.boot(lease_duration='1h')
        self.look()
        self.assertEqual({}, self.metadata(before))
        after = self.boot(lease_duration='1h')
        self.look()
        self.assertEqual({}, self.metadata(before))
        self.assertIn('climate:lease_id', self.metadata(after))

    def test_an_unavailable_nova_loses_no_report(self) -> None:
        self.look()
        server = self.boot(lease_duration='1h')
        self.cloud.reachable = False
        for _ in range(3):
            self.assertRaises(exceptions.Transient, self.look)
        self.cloud.heal()
        self.look()
        self.assertIn('climate:lease_id', self.metadata(server))

    def test_one_that_fails_is_no_obstacle_for_the_others(self) -> None:
        self.look()
        servers = [self.boot(lease_duration='1h') for _ in range(3)]
        self.cloud.fail('compute.set_server_metadata', times=1)
        self.assertRaises(exceptions.Transient, self.look)
        self.assertEqual(2, len(self.leases()))
        self.look()
        for server in servers:
            self.assertIn('climate:lease_id', self.metadata(server))
        self.assertEqual(3, len(self.leases()))

    def test_a_server_that_takes_long_to_come_up(self) -> None:
        self.look()
        server = self.boot(lease_duration='1h')
        self.cloud.set_seconds('server_action', 3600)
        self.cloud.compute.stop_server(server.id)
        for _ in range(3):
            self.look()
        self.assertEqual({}, self.metadata(server))
        self.site.away_until(4000)
        self.look()
        self.assertIn('climate:lease_id', self.metadata(server))
