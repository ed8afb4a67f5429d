# SPDX-License-Identifier: Apache-2.0

"""``climate-power`` as a process, between Climate, the bus, Nova and controllers."""

from __future__ import annotations

import datetime
import pathlib
import threading
from typing import Any

import fixtures

from climate.clock import SystemClock
from climate.domain.health import ASLEEP
from climate.messaging import listener
from climate.messaging import publisher
from climate.power.watch import EVENT_TYPES
from climate.power.watch import PowerService
from climate.simulator import SimulatedCloud
from tests.functional.messaging import bus
from tests.functional.power.yard import Emulator
from tests.functional.power.yard import Wires
from tests.functional.processes import Command
from tests.functional.processes import Standalone
from tests.functional.processes import until
from tests.unit.mail.samples import envelope

NAMES = ('compute-1', 'compute-2')


def publish(case: bus.BusCase, event_type: str) -> None:
    """Say something of a lease on the bus."""
    sender = publisher.from_conf(case.conf(driver=['messagingv2']), case.url)
    case.addCleanup(sender.close)
    said = envelope(event_type)
    sender.publish(
        [
            publisher.OutboxMessage(
                id=said['message_id'],
                event_type=event_type,
                payload=said['payload'],
                created_at=SystemClock().now(),
            )
        ]
    )


class Rounds:
    """A keeper that counts."""

    def __init__(self) -> None:
        self.count = 0
        self.trouble: list[Exception] = []
        self.looked = threading.Event()

    def round(self) -> float:
        self.count += 1
        if self.trouble:
            raise self.trouble.pop()
        return 600.0

    def close(self) -> None:
        """There is nothing to close."""


class TestWatch(bus.RabbitCase):
    """A notification is a reason to look."""

    def test_a_look_for_what_is_reported_and_whenever_the_bus_is_back(self) -> None:
        door, url = self.door()
        rounds: Any = Rounds()
        watch = PowerService(rounds)
        ears = listener.listen(
            self.conf(),
            url=url,
            subscription=listener.Subscription(event_types=EVENT_TYPES, queue='climate-power'),
            on_broker=watch.on_broker,
        )
        watch.start(ears)
        self.addCleanup(watch.stop, 1.0)
        self.eventually(lambda: 'hosts are still polled' in self.log.output)
        self.eventually(lambda: rounds.count == 1)
        door.open()
        self.eventually(lambda: 'Listening to notifications' in self.log.output)
        self.eventually(lambda: rounds.count == 2)
        publish(self, 'lease.event.before_start_lease')
        self.eventually(lambda: rounds.count == 3)
        publish(self, 'lease.degraded')
        publish(self, 'lease.create')
        self.eventually(lambda: rounds.count == 4)
        door.shut()
        self.eventually(lambda: self.log.output.count('still polled') == 2)
        door.open()
        self.eventually(lambda: rounds.count == 5)


class TestProcess(bus.RabbitCase):
    """Two machines that sleep, are booked, and are there in time."""

    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.emulator = self.useFixture(Emulator(NAMES))
        options = '[health]\npolling_interval = 0.5\n[manager]\nprepare_lead_time = 2\n'
        self.climate = self.useFixture(Standalone(hosts=2, options=options))
        self.cloud = self.closing(SimulatedCloud(self.climate.state / 'cloud', clock=SystemClock()))
        self.useFixture(Wires(self.cloud, self.emulator))

    def command(self, **power: Any) -> Command:
        hosts = ''.join(
            f'  {name}: {{system: {found}}}\n' for name, found in self.emulator.ids.items()
        )
        (self.folder / 'hosts.yaml').write_text(
            f'defaults: {{address: "{self.emulator.address}"}}\nhosts:\n{hosts}'
        )
        values = {
            'hosts_file': self.folder / 'hosts.yaml',
            'state_path': self.folder / 'power.json',
            'auth_type': 'none',
            'endpoint': self.climate.endpoint,
            'idle_after': 1,
            'interval': 0.5,
            'waking_interval': 0.5,
            'boot_time': 5,
            'margin': 9,
            'service_down_time': 3,
            **power,
        }
        text = '\n'.join(f'{key} = {value}' for key, value in values.items())
        (self.folder / 'climate.conf').write_text(
            f'[DEFAULT]\ncloud = simulated\ntransport_url = {self.url}\n'
            f'control_exchange = {self.exchange}\n'
            f'[oslo_messaging_notifications]\ntopics = {self.topic}\n'
            f'[simulator]\nstate_dir = {self.climate.state / "cloud"}\n[power]\n{text}\n'
        )
        words = ('python', '-m', 'climate.cmd.power')
        return Command(
            *words, '--config-file', str(self.folder / 'climate.conf'), folder=self.folder
        )

    def reasons(self) -> list[str]:
        # One host of the standalone is not Climate's.
        found = self.cloud.compute.list_services()
        return [one.disabled_reason for one in found if one.host.startswith('compute-')]

    def book(self, seconds: float) -> str:
        start = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)
        body = {
            'name': 'demo',
            'start_date': start.isoformat(),
            'end_date': (start + datetime.timedelta(minutes=5)).isoformat(),
            'reservations': [{'resource_type': 'physical:host', 'min': 2, 'max': 2}],
        }
        status, answer = self.climate.ask('POST', '/leases', body, version='1.3')
        self.assertEqual(201, status, answer)
        return str(answer['lease']['id'])

    def readiness(self, lease_id: str) -> dict[str, Any]:
        _, answer = self.climate.ask('GET', f'/leases/{lease_id}', version='1.3')
        return answer['lease']['readiness'] or {}

    def test_asleep_booked_and_ready_in_time(self) -> None:
        command = self.useFixture(self.command())
        until('both sleep', lambda: self.emulator.powers() == ['Off', 'Off'], 180)
        self.assertEqual([ASLEEP, ASLEEP], self.reasons())
        _, answer = self.climate.ask('GET', '/os-hosts', version='1.3')
        self.assertEqual({'20'}, {host['lead_time'] for host in answer['hosts']})
        self.assertEqual({'false'}, {host['awake'] for host in answer['hosts']})
        # They may be booked like any other.
        self.assertEqual({True}, {host['reservable'] for host in answer['hosts']})
        lease_id = self.book(30)
        command.kill()
        command.start()
        until('both are ready', lambda: self.readiness(lease_id).get('ready') == list(NAMES), 180)
        said = self.readiness(lease_id)
        self.assertEqual(('climate-power', []), (said['by'], said['waiting']))
        self.assertEqual((['On', 'On'], ['', '']), (self.emulator.powers(), self.reasons()))
        ready = [
            notifications
            for notifications in self.climate.notifications()
            if notifications['event_type'] == 'lease.ready'
        ]
        self.assertEqual(1, len(ready))
        until('it starts', lambda: self.status(lease_id) == 'ACTIVE', 180)
        self.assertIn('"boots": [', (self.folder / 'power.json').read_text())
        self.assertEqual(0, command.terminate(60))
        # Its start was announced as much earlier as it had asked for.
        self.assertIn(
            20, [one['payload'].get('seconds_to_start') for one in self.climate.notifications()]
        )
        types = [notifications['event_type'] for notifications in self.climate.notifications()]
        self.assertNotIn('lease.not_ready', types)
        self.assertNotIn('lease.degraded', types)

    def status(self, lease_id: str) -> str:
        _, answer = self.climate.ask('GET', f'/leases/{lease_id}', version='1.3')
        return str(answer['lease']['status'])

    def test_a_controller_that_does_not_answer_is_reported(self) -> None:
        command = self.useFixture(self.command(controller_timeout=0.3, retry_after=1))
        until('both sleep', lambda: self.emulator.powers() == ['Off', 'Off'], 180)
        self.emulator.freeze()
        self.addCleanup(self.emulator.thaw)
        lease_id = self.book(5)
        until(
            'it waits for both', lambda: self.readiness(lease_id).get('waiting') == list(NAMES), 180
        )
        until('why', lambda: 'management controller' in self.readiness(lease_id)['detail'], 180)
        until(
            'the lease says so',
            lambda: (
                'lease.not_ready' in [one['event_type'] for one in self.climate.notifications()]
            ),
            90,
        )
        self.emulator.thaw()
        until('both are ready', lambda: self.readiness(lease_id).get('ready') == list(NAMES), 180)
        self.assertEqual(0, command.terminate(60))

    def test_an_unusable_configuration_is_reported_in_one_line(self) -> None:
        for power, why in (
            ({'hosts_file': '/nowhere'}, '/nowhere'),
            ({'auth_type': ''}, 'auth_type'),
            ({'idle_after': 'soon'}, 'soon'),
        ):
            command = self.useFixture(self.command(**power))
            assert command.process is not None
            self.assertEqual(1, command.process.wait(180), command.said)
            lines = [line for line in command.said.splitlines() if 'rehearsal' not in line]
            self.assertEqual(1, len(lines), lines)
            self.assertIn(why, lines[0])
