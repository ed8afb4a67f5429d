# SPDX-License-Identifier: Apache-2.0

"""Servers of some projects get leases that nobody has asked for."""

from __future__ import annotations

import dataclasses
import datetime
import uuid

from climate.cloud.base import Flavor
from climate.cloud.base import Server
from climate.domain.booting import ServerReport
from climate.domain.leases import Lease
from climate.domain.requests import Caller
from climate.domain.requests import LeaseChange
from climate.manager.default_leases.booted_servers import lease_id
from climate.manager.default_leases.server_lease_settings import ServerLeaseSettings
from tests.functional.manager import booted
from tests.functional.manager import harness

HOUR = datetime.timedelta(hours=1)
DEFAULT = ServerLeaseSettings(
    enabled=True,
    default_lease=datetime.timedelta(days=30),
    projects=frozenset({'blue', 'green', 'yellow'}),
    exempt=frozenset({'green'}),
    on_end=('snapshot', 'delete'),
)


class TestDefault(booted.BootedCase):
    """Leases that nobody has asked for."""

    def setUp(self) -> None:
        super().setUp()
        self.before = self.boot()
        self.keeper = self.add_manager(DEFAULT)
        self.site.away_until(60)
        self.keeper.look(self.cloud)
        self.site.away_until(120)

    def metadata_after_report(self, server: Server) -> dict[str, str]:
        self.keeper.receive(ServerReport(server_id=server.id))
        return self.metadata(server)

    def test_who_gets_one(self) -> None:
        self.assertIn('climate:lease_id', self.metadata_after_report(self.boot()))
        (lease,) = self.leases()
        self.assertEqual(datetime.timedelta(days=30), lease.period.length)
        self.assertEqual(['snapshot', 'delete'], list(lease.reservations[0].request['on_end']))
        self.assertEqual({}, self.metadata_after_report(self.before))
        for other in ('green', 'red'):
            self.assertEqual({}, self.metadata_after_report(self.boot(project_id=other)))
        self.keeper = self.add_manager(dataclasses.replace(DEFAULT, projects=frozenset({'*'})))
        self.assertEqual({}, self.metadata_after_report(self.boot(project_id='green')))
        self.assertIn('climate:lease_id', self.metadata_after_report(self.boot(project_id='red')))

    def test_who_asks_gets_what_it_asks_for(self) -> None:
        self.metadata_after_report(self.boot(lease_duration='1h'))
        (lease,) = self.leases()
        self.assertEqual(HOUR, lease.period.length)

    def test_what_is_in_a_lease_is_left_alone(self) -> None:
        booked = self.site.create(180, 7200, until=200)
        reserved = booked.reservations[0].id
        # As Climate makes one for a reservation of instances.
        self.cloud.compute.create_flavor(
            Flavor(id=reserved, name=reserved, vcpus=1, memory_mb=1, disk_gb=0)
        )
        self.assertEqual({}, self.metadata_after_report(self.boot(flavor=reserved)))
        for hint in (reserved, [reserved]):
            self.assertEqual({}, self.metadata_after_report(self.hinted(hint, booked)))
        mine = self.boot(reservation=reserved)
        self.of_a_server(booked, {'server_id': mine.id})
        self.assertEqual({}, self.metadata_after_report(mine))
        self.assertEqual(1, len(self.leases()))

    def hinted(self, hint: object, lease: Lease | None = None, project: str = 'blue') -> Server:
        """Boot a server with a hint, on the host of a lease or on another."""
        if lease is not None:
            hosts = [item.resource_name for item in self.site.allocations(lease)]
        else:
            taken = {
                item.resource_name for one in self.leases() for item in self.site.allocations(one)
            }
            hosts = [name for name in (f'compute-{n}' for n in range(1, 5)) if name not in taken]
        return self.cloud.boot_server(
            hosts[0], project, 'vm', '2', hints={'reservation': hint}, user_id='alice'
        )

    def test_what_its_owner_says_lets_no_server_go_without(self) -> None:
        """Nothing that is malformed or refused, nor what is of nobody or of others."""
        empty = self.site.create(180, 7200, hosts=0)
        theirs = self.site.create(180, 7200, until=200)
        others = theirs.reservations[0].id
        for said in (
            {'lease_id': empty.id},
            {'lease_id': theirs.id},
            {'lease_id': str(uuid.uuid4())},
            {'lease_id': 'x'},
            {'lease_id': ''},
            {'reservation': others},
            {'reservation': str(uuid.uuid4())},
            {'reservation': 'x'},
            {'lease_error': 'not for me'},
            {'lease_end': 'banana'},
            {'lease_end': '2029-01-01 00:00'},
            {'lease_duration': '1h', 'on_end': 'explode'},
            {'lease_duration': ''},
        ):
            self.assert_default(self.boot(**said), said)
        for hint in ('', 'anything', '\0', ['a', 'b'], str(uuid.uuid4()), others):
            self.assert_default(self.hinted(hint), hint)
        self.assert_default(self.hinted(others, theirs, 'yellow'), 'a host of others')
        self.assert_default(self.boot('no JSON'), 'lease_params')

    def assert_default(self, server: Server, said: object) -> None:
        """Check that a server gets a lease of 30 days, under an id that is not its owner's."""
        metadata, known = self.metadata_after_report(server), {lease.id for lease in self.leases()}
        self.assertIn(metadata['climate:lease_id'], known, said)
        with self.site.store.reading() as tx:
            lease = tx.leases.get(metadata['climate:lease_id'])
            self.assertEqual([lease.id], tx.leases.ids_with('virtual:server', server.id))
        self.assertEqual(datetime.timedelta(days=30), lease.period.length, said)
        self.assertEqual(server.project_id, lease.project_id)

    def test_what_its_owner_does_lets_no_server_go_without(self) -> None:
        """Its owner would be refused a lease; that of the operator begins, and does nothing."""
        for change in (
            {'locked': True},
            {'status': 'PAUSED'},
            {'status': 'RESCUE'},
            {'status': 'VERIFY_RESIZE'},
        ):
            server = self.boot()
            self.cloud.set_server(server.id, **change)
            self.keeper.receive(ServerReport(server_id=server.id))
            self.site.until(self.site.seconds() + 1)
            (lease,) = [one for one in self.leases() if one.id == lease_id(server.id)]
            self.assertEqual('ACTIVE', self.site.status(lease), change)
            found = self.cloud.compute.find_server(server.id)
            self.assertEqual(change.get('status', 'ACTIVE'), found.status)

    def test_a_lease_to_come_that_its_owner_deletes(self) -> None:
        """It counts for nothing; a second time as well."""
        server = self.boot(lease_start='2030-06-01 00:00', lease_duration='1h')
        self.metadata_after_report(server)
        (lease,) = self.leases()
        caller = Caller(user_id='alice', project_id='blue')
        self.site.until(self.site.seconds() + 60)
        self.keeper.look(self.cloud)
        self.site.leases.delete(caller, lease.id, 'blue')
        self.site.until(self.site.seconds() + 60)
        self.assertEqual([], self.leases())
        self.site.away_until(self.site.seconds() + 600)
        self.keeper.look(self.cloud)
        self.keeper.look(self.cloud)
        (found,) = self.leases()
        self.assertEqual(lease_id(server.id, again=True), found.id)
        self.assertEqual('virtual:server', found.reservations[0].resource_type)
        self.assertEqual(lease_id(server.id, again=True), self.metadata(server)['climate:lease_id'])

    def test_one_that_is_broken_is_looked_at_again(self) -> None:
        """Its owner can break it, and bring it back."""
        server = self.boot()
        self.cloud.set_server(server.id, status='ERROR')
        self.assertEqual({}, self.metadata_after_report(server))
        self.site.away_until(600)
        self.keeper.look(self.cloud)
        self.assertEqual([], self.leases())
        self.cloud.set_server(server.id, status='ACTIVE')
        self.site.away_until(1200)
        self.keeper.look(self.cloud)
        self.assertIn('climate:lease_id', self.metadata(server))

    def test_why_it_is_not_what_was_asked_for(self) -> None:
        metadata = self.metadata_after_report(self.boot(lease_end='banana'))
        self.assertIn("'banana' is not a time", metadata['climate:lease_error'])

    def test_a_reservation_that_boots_later_is_no_excuse(self) -> None:
        """Nor one that has booted another server."""
        later = self.of_a_server(self.site.create(3600, 7200), {})
        self.assert_default(self.boot(reservation=later), 'later')
        other = self.of_a_server(self.site.create(0, 7200), {'server_id': self.before.id})
        self.assert_default(self.boot(reservation=other), 'another')

    def test_notices_before_the_end_and_prolonged(self) -> None:
        self.metadata_after_report(self.boot())
        (lease,) = self.leases()
        month = 30 * 86400 + 120
        self.site.until(180)
        # Without the checks of a month.
        self.site.away_until(month - 660)
        self.site.until(month - 60)
        self.assertIn('before_end_lease', self.site.bus.received(lease))
        end = harness.at(month + 86400)
        caller = Caller(user_id='alice', project_id='blue')
        change = LeaseChange(end=end, grain=datetime.timedelta(0))
        self.site.leases.update(caller, lease.id, 'blue', change)
        self.assertEqual('ACTIVE', self.site.status_at(month + 60, lease))
