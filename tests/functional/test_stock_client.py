# SPDX-License-Identifier: Apache-2.0

"""The clients that people have, unchanged, against a running service."""

from __future__ import annotations

import datetime
import json
import pathlib
import re
import subprocess
import sys
import unittest
from collections.abc import Sequence
from concurrent import futures
from typing import Any
from typing import ClassVar

from climate.clock import SystemClock
from climate.simulator import SimulatedCloud
from tests import base
from tests import commands
from tests.functional import clients
from tests.functional import processes
from tests.functional.clients import minute
from tests.functional.clients import nested
from tests.functional.processes import Standalone
from tests.functional.processes import until

RESERVATION = 'resource_type=physical:host,min=1,max=1'
UUID = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')


def shown(minutes: str) -> str:
    """Return how the service shows what :func:`minute` wrote."""
    return minutes.replace(' ', 'T') + ':00.000000'


def setUpModule() -> None:
    """Load the clients, and start the service: each takes seconds of a processor."""
    python = pathlib.Path(sys.executable)
    Shell.commands = commands.Commands(python, commands.CLIENTS, processes.clean_environment())
    unittest.addModuleCleanup(Shell.commands.close)
    options = '[DEFAULT]\nresource_types = physical:host, virtual:floatingip\n'
    _Test.service = unittest.enterModuleContext(Standalone(hosts=3, options=options))


class Shell:
    """Runs ``openstack reservation`` and ``blazar``."""

    commands: ClassVar[commands.Commands]

    def __init__(self, endpoint: str) -> None:
        self._to = ['--os-auth-type', 'none', '--os-endpoint', endpoint]

    def run(self, *words: str, fails: bool = False, command: str = 'openstack') -> str:
        """Run a command; return what it wrote.

        :raises AssertionError: if it fails, or does not and should
        """
        done = self.commands.run(self.line(command, *words), processes.clean_environment())
        if (done.returncode != 0) != fails:
            raise AssertionError(f'{words}: {done.returncode}\n{done.stdout}\n{done.stderr}')
        return done.stderr if fails else done.stdout

    def line(self, command: str, *words: str) -> list[str]:
        """Return the words of a command line."""
        group = ['reservation'] if command == 'openstack' else []
        return [str(processes.BIN / command), *self._to, *group, *words]

    def json(self, *words: str) -> Any:
        """Run a command and read its answer, which may come after a sentence."""
        text = self.run(*words, '-f', 'json')
        return json.loads(text[min(text.find(sign) % len(text) for sign in '[{') :])

    def at_once(self, *lines: Sequence[str]) -> list[Any]:
        """Run commands that do not depend on each other, and read their answers."""
        with futures.ThreadPoolExecutor(4) as pool:
            return list(pool.map(lambda words: self.json(*words), lines))


class _Test(base.TestCase):
    """Three hosts and no lease, before and after."""

    service: ClassVar[Standalone]

    def setUp(self) -> None:
        super().setUp()
        self.shell = Shell(self.service.endpoint)

    def status(self, lease: dict[str, Any]) -> str:
        return str(self.service.ask('GET', f'/leases/{lease["id"]}')[1]['lease']['status'])


class TestOpenstack(_Test):
    """``openstack reservation``: each command with each of its options."""

    def test_leases(self) -> None:
        start, end, warn = minute(10), minute(100), minute(50)
        created, other = self.shell.at_once(
            (
                'lease', 'create', 'first',
                '--reservation', 'resource_type=physical:host,min=1,max=2,'
                'hypervisor_properties=[">=", "$vcpus", "2"],resource_properties=',
                '--start-date', start, '--end-date', end, '--before-end-date', warn,
                '--event', f'event_type=notification,event_date={minute(20)}',
            ),
            ('lease', 'create', 'second', '--reservation', RESERVATION),
        )  # fmt: skip
        self.assertRegex(created['id'], UUID)
        self.assertEqual((shown(start), shown(end)), (created['start_date'], created['end_date']))
        self.assertEqual(('first', 'PENDING'), (created['name'], created['status']))
        (reservation,) = nested(created['reservations'])
        self.assertEqual('[">=", "$vcpus", "2"]', reservation['hypervisor_properties'])
        kinds = {item['event_type']: item['time'] for item in nested(created['events'])}
        self.assertEqual(shown(warn), kinds['before_end_lease'])
        self.assertIn('notification', kinds)

        listed, by_name, by_id = self.shell.at_once(
            ('lease', 'list', '--sort-by', 'start_date'),
            ('lease', 'show', 'first'),
            ('lease', 'show', other['id']),
        )
        self.assertEqual([other['id'], created['id']], [item['id'] for item in listed])
        self.assertEqual({'id', 'name', 'start_date', 'end_date'}, set(listed[0]))
        self.assertEqual(created['id'], by_name['id'])
        self.assertEqual('second', by_id['name'])
        until('it has started', lambda: self.status(other) == 'ACTIVE')
        self.change(created['id'], start, end, reservation['id'])
        self.refusals(created)
        self.shell.run('lease', 'delete', 'renamed')
        self.assertEqual(404, self.service.ask('GET', f'/leases/{created["id"]}')[0])
        self.shell.run('lease', 'delete', other['id'])
        until('it is gone', lambda: not self.service.ask('GET', '/leases')[1]['leases'])

    def change(self, lease_id: str, start: str, end: str, reservation_id: str) -> None:
        """Each change is read back, relative ones count from what was."""
        beginning = datetime.datetime.fromisoformat(start)
        ending = datetime.datetime.fromisoformat(end)
        hour = datetime.timedelta(hours=1)
        half = hour / 2
        more = f'id={reservation_id},min=2,max=2'
        for options, begins, ends in (
            (('--prolong-for', '1h'), beginning, ending + hour),
            (('--reduce-by', '30m'), beginning, ending + half),
            (('--defer-by', '30m'), beginning + half, ending + half),
            (('--advance-by', '1800s'), beginning, ending + half),
            (('--end-date', end), beginning, ending),
            (('--name', 'renamed', '--reservation', more), beginning, ending),
        ):
            self.shell.run('lease', 'set', lease_id, *options)
            lease = self.service.ask('GET', f'/leases/{lease_id}', version='1.0')[1]['lease']
            dates = [
                datetime.datetime.strptime(lease[key], '%Y-%m-%dT%H:%M:%S.%f')  # noqa: DTZ007 - as clients read it
                for key in ('start_date', 'end_date')
            ]
            self.assertEqual([begins, ends], dates, options)
        self.assertEqual('renamed', lease['name'])
        self.assertEqual((2, 2), tuple(lease['reservations'][0][key] for key in ('min', 'max')))

    def refusals(self, lease: dict[str, Any]) -> None:
        refused = {
            'Not enough hosts available': (
                'lease', 'create', 'x', '--reservation', 'resource_type=physical:host,min=9,max=9',
            ),
            'Malformed requirements': (
                'lease', 'create', 'x', '--reservation', f'{RESERVATION},resource_properties=[1]',
            ),
            'max': ('lease', 'create', 'x', '--reservation', 'resource_type=physical:host,min=1'),
            'End date must be later': ('lease', 'set', lease['id'], '--end-date', minute(9)),
        }  # fmt: skip
        with futures.ThreadPoolExecutor(4) as pool:
            found = pool.map(lambda words: self.shell.run(*words, fails=True), refused.values())
            for text, error in zip(refused, found, strict=True):
                self.assertIn(text, error)
                self.assertNotIn('Traceback', error)

    def test_hosts(self) -> None:
        listed, shown_by_name, shown_by_id = self.shell.at_once(
            ('host', 'list', '--sort-by', 'id'),
            ('host', 'show', 'compute-2'),
            ('host', 'show', '2'),
        )
        self.assertEqual(['1', '2', '3'], [item['id'] for item in listed])
        self.assertEqual('compute-2', shown_by_name['hypervisor_hostname'])
        self.assertEqual(shown_by_name, shown_by_id)
        self.assertEqual(16, int(shown_by_name['vcpus']))
        self.shell.run('host', 'delete', 'compute-2')
        self.shell.run('host', 'delete', '1')
        created = self.shell.json('host', 'create', 'compute-2', '--extra', 'gpu=True')
        self.assertEqual(('compute-2', 'True'), (created['hypervisor_hostname'], created['gpu']))
        self.shell.run('host', 'set', 'compute-2', '--extra', 'gpu=False', '--extra', 'ssd=yes')
        found = self.shell.json('host', 'show', created['id'])
        self.assertEqual(('False', 'yes'), (found['gpu'], found['ssd']))
        self.properties()
        self.assertIn('compute-9', self.shell.run('host', 'create', 'compute-9', fails=True))
        self.shell.run('host', 'create', 'compute-1')

    def properties(self) -> None:
        listed, detailed, found = self.shell.at_once(
            ('host', 'property', 'list'),
            ('host', 'property', 'list', '--detail', '--all', '--sort-by', 'property'),
            ('host', 'property', 'show', 'gpu'),
        )
        self.assertEqual({'gpu', 'ssd'}, {item['property'] for item in listed})
        self.assertEqual(['gpu', 'ssd'], [item['property'] for item in detailed])
        self.assertEqual(('gpu', False), (found['property'], found['private']))
        self.assertIn('False', str(found['property_values']))
        self.shell.run('host', 'property', 'set', 'ssd', '--private')
        listed, everything = self.shell.at_once(
            ('host', 'property', 'list'), ('host', 'property', 'list', '--all', '--detail')
        )
        self.assertEqual(['gpu'], [item['property'] for item in listed])
        private = {item['property']: item['private'] for item in everything}
        self.assertEqual({'gpu': False, 'ssd': True}, private)
        self.shell.run('host', 'property', 'set', 'ssd', '--public')
        self.assertEqual(2, len(self.shell.json('host', 'property', 'list')))

    def test_allocations(self) -> None:
        lease = self.shell.json(
            'lease', 'create', 'l', '--reservation', RESERVATION,
            '--start-date', minute(10), '--end-date', minute(20),
        )  # fmt: skip
        (reservation,) = nested(lease['reservations'])
        everything, mine, of_reservation, of_another = self.shell.at_once(
            ('allocation', 'list', 'host'),
            ('allocation', 'list', 'host', '--lease-id', lease['id']),
            ('allocation', 'list', 'host', '--reservation-id', reservation['id']),
            ('allocation', 'list', 'host', '--lease-id', reservation['id']),
        )
        taken = [item for item in everything if item['reservations']]
        self.assertEqual((3, 1), (len(everything), len(taken)))
        self.assertIn(reservation['id'], str(taken[0]['reservations']))
        for found in (mine, of_reservation):
            self.assertEqual(taken, [item for item in found if item['reservations']])
        self.assertEqual([], [item for item in of_another if item['reservations']])
        host_id = taken[0]['resource_id']
        host = self.service.ask('GET', f'/os-hosts/{host_id}')[1]['host']
        by_id, by_name = self.shell.at_once(
            ('allocation', 'show', 'host', host_id),
            ('allocation', 'show', 'host', host['hypervisor_hostname']),
        )
        self.assertEqual(by_id, by_name)
        self.assertIn(lease['id'], str(by_id['reservations']))
        self.shell.run('lease', 'delete', lease['id'])


class TestFloatingIPs(_Test):
    """``openstack reservation floatingip``, and a lease of one."""

    def public_network(self) -> str:
        """Return the id of the external network of the cloud."""
        cloud = self.closing(SimulatedCloud(self.service.state / 'cloud', clock=SystemClock()))
        return next(item.id for item in cloud.networks.networks() if item.external)

    def test_register_lease_and_let_go(self) -> None:
        network = self.public_network()
        before = self.service.ask('GET', '/floatingips')[1]['floatingips']
        created = self.shell.json('floatingip', 'create', network, '203.0.113.200')
        self.assertEqual('203.0.113.200', created['floating_ip_address'])
        self.assertRegex(created['id'], '^[0-9]+$')
        listed, shown = self.shell.at_once(
            ('floatingip', 'list'), ('floatingip', 'show', created['id'])
        )
        self.assertIn(created['id'], {item['id'] for item in listed})
        self.assertEqual(len(before) + 1, len(listed))
        self.assertEqual({**created, 'created_at': None}, {**shown, 'created_at': None})
        lease = self.shell.json(
            'lease', 'create', 'address',
            '--reservation', f'resource_type=virtual:floatingip,network_id={network},amount=1,'
            'required_floatingips=["203.0.113.200"]',
        )  # fmt: skip
        refusal = self.shell.run('floatingip', 'delete', created['id'], fails=True)
        self.assertIn('it has reservations', refusal)
        until('it has started', lambda: self.status(lease) == 'ACTIVE')
        self.shell.run('lease', 'delete', lease['id'])
        until('it is gone', lambda: not self.service.ask('GET', '/leases')[1]['leases'])
        self.shell.run('floatingip', 'delete', created['id'])
        self.assertEqual(before, self.service.ask('GET', '/floatingips')[1]['floatingips'])


class TestOthers(_Test):
    """The script itself, the older shell and the library."""

    def blazar(self, *words: str) -> str:
        return self.shell.run(*words, command='blazar')

    def test_script(self) -> None:
        """Not loaded beforehand, as all others are."""
        line = self.shell.line('openstack', 'host', 'list', '-f', 'json')
        done = subprocess.run(
            line, capture_output=True, check=True, timeout=300, env=processes.clean_environment()
        )
        self.assertEqual(3, len(json.loads(done.stdout)))

    def test_blazar(self) -> None:
        self.blazar(
            'lease-create', '--physical-reservation', 'min=1,max=1',
            '--start-date', minute(10), '--end-date', minute(20), 'old',
        )  # fmt: skip
        with futures.ThreadPoolExecutor(4) as pool:
            leases, lease, hosts = pool.map(
                lambda words: self.blazar(*words),
                (('lease-list',), ('lease-show', 'old'), ('host-list',)),
            )
        self.assertIn('old', leases)
        self.assertIn('PENDING', lease)
        self.assertIn('compute-1', hosts)
        self.blazar('lease-update', '--prolong-for', '10m', '--name', 'new', 'old')
        self.blazar('lease-delete', 'new')
        self.assertEqual([], self.service.ask('GET', '/leases')[1]['leases'])

    def test_a_property_is_removed(self) -> None:
        """Client 4.6.0 has the command, and misspells its name for ``openstack``."""
        self.assertNotIn('rack', self.blazar('host-show', 'compute-2'))
        self.blazar('host-update', '--extra', 'rack=r1', '--extra', 'ssd=yes', 'compute-2')
        self.assertIn('rack', self.blazar('host-show', 'compute-2'))
        self.blazar('host-unset', '--extra', 'rack', 'compute-2')
        shown = self.blazar('host-show', 'compute-2')
        self.assertNotIn('rack', shown)
        self.assertIn('ssd', shown)
        self.blazar('host-unset', '--extra', 'ssd', 'compute-2')
        self.assertNotIn('ssd', self.blazar('host-show', 'compute-2'))

    def test_openstacksdk(self) -> None:
        connection = clients.connection(self)
        answer = connection.reservation.get('/leases')
        self.assertEqual((200, {'leases': []}), (answer.status_code, answer.json()))
        body = {'name': 'l', 'start_date': minute(10), 'end_date': minute(20)}
        body['reservations'] = [{'resource_type': 'physical:host', 'min': 1, 'max': 1}]
        created = connection.reservation.post('/leases', json=body)
        self.assertEqual(201, created.status_code)
        found = len(connection.reservation.get('/os-hosts/allocations').json()['allocations'])
        self.assertEqual(3, found)
        path = f'/leases/{created.json()["lease"]["id"]}'
        self.assertEqual(204, connection.reservation.delete(path).status_code)
