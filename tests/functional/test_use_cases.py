# SPDX-License-Identifier: Apache-2.0

"""The four use cases of the guide, as it prints them, on one standalone service."""

from __future__ import annotations

import datetime
import json
from typing import Any

from climate.clock import SystemClock
from climate.simulator import SimulatedCloud
from tests import base
from tests.architecture import ROOT
from tests.functional import bodies
from tests.functional.processes import Standalone
from tests.functional.processes import until

USER = ROOT / 'doc' / 'source' / 'user'
HOSTS = {
    'name': 'computation',
    'reservations': [bodies.hosts(2, resource_properties='[">=", "$vcpus", "16"]')],
}
QUICK = """
[manager]
max_sleep = 0.2
[storage]
poll = 0.1
[virtual:stack]
poll = 0.1
"""


class TestUseCases(base.TestCase):
    """All four are booked at once, as printed; then each is brought nearer, and ended."""

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(Standalone(hosts=4, options=QUICK))
        self.cloud = self.closing(SimulatedCloud(self.service.state / 'cloud', clock=SystemClock()))

    def test_all_four(self) -> None:
        server, volume, stack = (self.printed(name) for name in ('server', 'volume', 'stack'))
        period = {key: server[key] for key in ('start_date', 'end_date')}
        leases = [self.book(body) for body in (server, {**HOSTS, **period}, volume, stack)]
        until('the server waits', lambda: self.status('web') == 'SHELVED_OFFLOADED')
        later = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)
        nearer = {'start_date': 'now', 'end_date': later.isoformat()}
        for lease in leases:
            path = f'/leases/{lease["id"]}'
            self.assertEqual(200, self.service.ask('PUT', path, nearer, version='1.3')[0])
        for lease in leases:
            until('it is active', lambda one=lease: self.state(one) == 'ACTIVE')
        self.check_the_start(leases)
        using = self.attach('data', 'analyser')
        self.cloud.keep_journal()
        for lease in leases:
            self.service.ask('DELETE', f'/leases/{lease["id"]}', version='1.3')
        until('all are over', lambda: self.service.ask('GET', '/leases')[1]['leases'] == [])
        self.check_the_end()
        # It was not taken from a server whose image was still to be made.
        order = [call.verb for call in self.cloud.journal() if call.arguments[:1] in using]
        self.assertEqual(
            ['compute.create_image', 'compute.delete_server', 'volume.delete_volume'],
            [verb for verb in order if '.find_' not in verb and '.list_' not in verb],
        )
        self.check_booted()
        self.check_samples()

    def attach(self, volume: str, server: str) -> list[tuple[object]]:
        """Attach a volume to a server; return the ids of both."""
        (disk,) = (each for each in self.cloud.volumes.volumes() if each.name == volume)
        (machine,) = (each for each in self.cloud.servers() if each.name == server)
        self.cloud.volumes.attach(disk.id, machine.id)
        return [(disk.id,), (machine.id,)]

    def check_the_start(self, leases: list[dict[str, Any]]) -> None:
        """Fail unless all is there that was leased, in the room that was booked for it."""
        pools = {each.name: each.hosts for each in self.cloud.aggregates()}
        mine = pools[leases[1]['reservations'][0]['id']]
        self.assertEqual(2, len(mine))
        hosts = {each.name: each.host for each in self.cloud.servers()}
        self.assertEqual({'web', 'analyser'}, set(hosts))
        self.assertEqual(set(), set(hosts.values()) & {*mine, 'common-1'})
        self.assertEqual(('ACTIVE', 'ACTIVE'), (self.status('web'), self.status('analyser')))
        self.assertEqual(['archive', 'data'], self.volumes())
        self.assertEqual(['course', 'lab'], self.stacks())

    def check_the_end(self) -> None:
        """Fail unless all is gone, and what was to be kept is an image."""
        self.assertEqual((), self.cloud.servers())
        kept = {each.name for each in self.cloud.images() if each.name.startswith('reserved_')}
        self.assertEqual({'reserved_web', 'reserved_analyser'}, kept)
        self.assertEqual((['archive'], ['lab']), (self.volumes(), self.stacks()))
        (pool,) = self.cloud.aggregates()
        self.assertEqual(4, len(pool.hosts))

    def check_booted(self) -> None:
        """Fail unless servers of ``simulator boot`` come back, whether room is booked or not."""
        leases = []
        for name, guarantee in (('booked', True), ('hoping', False)):
            wish = {
                'resource_type': 'virtual:server',
                'server_id': self.cloud.boot_server('compute-1', 'demo', name, 'm1.medium').id,
                'guarantee': guarantee,
                'on_end': ['delete'],
            }
            leases.append(self.book({**self.printed('server'), 'reservations': [wish]}))
            until('it waits', lambda one=name: self.status(one) == 'SHELVED_OFFLOADED')
        later = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)
        nearer = {'start_date': 'now', 'end_date': later.isoformat()}
        for lease in leases:
            path = f'/leases/{lease["id"]}'
            self.assertEqual(200, self.service.ask('PUT', path, nearer, version='1.3')[0])
        for name in ('booked', 'hoping'):
            until('it is back', lambda one=name: self.status(one) == 'ACTIVE')
        hosts = {each.name: each.host for each in self.cloud.servers()}
        self.assertTrue(hosts['booked'].startswith('compute-'))
        self.assertEqual('common-1', hosts['hoping'])

    def check_samples(self) -> None:
        """Fail unless something of the other types can be leased at once."""
        public = next(each.id for each in self.cloud.networks.networks() if each.external)
        reservations = [
            {'resource_type': 'virtual:floatingip', 'network_id': public, 'amount': 2},
            {'resource_type': 'network', 'network_name': 'lab-net'},
            {
                'resource_type': 'physical:storage',
                'min': 1,
                'max': 1,
                'resource_properties': '["==", "$tier", "nvme"]',
            },
            {'resource_type': 'custom:rack', 'min': 1, 'max': 2},
            {'resource_type': 'virtual:stack', 'stack_id': 'lab', 'on_end': ['suspend']},
        ]
        body = {'name': 'all', 'start_date': 'now', 'duration': '1h', 'reservations': reservations}
        lease = self.book(body)
        until('it is active', lambda: self.state(lease) == 'ACTIVE')
        self.assertEqual(2, len(self.cloud.networks.floating_ips()))
        self.assertIn('lab-net', {each.name for each in self.cloud.networks.networks()})

    def printed(self, name: str) -> dict[str, Any]:
        """Return a body of the guide."""
        return json.loads((USER / f'{name}-lease.json').read_text())

    def book(self, body: dict[str, Any]) -> dict[str, Any]:
        """Make a lease."""
        status, answer = self.service.ask('POST', '/leases', body, version='1.3')
        self.assertEqual(201, status, answer)
        return answer['lease']

    def state(self, lease: dict[str, Any]) -> str:
        """Return the status of a lease."""
        return str(self.service.ask('GET', f'/leases/{lease["id"]}')[1]['lease']['status'])

    def status(self, name: str) -> str:
        """Return the status of a server."""
        return next(each.status for each in self.cloud.servers() if each.name == name)

    def volumes(self) -> list[str]:
        """Return the names of all volumes."""
        return sorted(each.name for each in self.cloud.volumes.volumes())

    def stacks(self) -> list[str]:
        """Return the names of all stacks."""
        return sorted(each.name for each in self.cloud.overview()['stacks'])
