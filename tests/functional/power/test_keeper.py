# SPDX-License-Identifier: Apache-2.0

"""The keeper of hosts: none sleeps that is in use, and none holds up the others."""

from __future__ import annotations

import dataclasses
import datetime
import pathlib
import threading
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

import fixtures

from climate import exceptions
from climate.clock import ManualClock
from climate.cloud.base import CloudConflict
from climate.cloud.reservation import Busy
from climate.cloud.reservation import Host
from climate.domain.health import ASLEEP
from climate.power import deciding
from climate.power.controller import PowerController
from climate.power.deciding import PowerSettings
from climate.power.records import PowerRecords
from climate.simulator import SimulatedCloud
from tests import base
from tests.functional.power.yard import Switch
from tests.narrowing import present

NOW = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)
NAMES = ('compute-1', 'compute-2', 'compute-3')


class Climate:
    """An API of Climate of which a test says everything."""

    def __init__(self) -> None:
        self.hosts = [
            Host(id=str(number), name=name, service_host=name, reservable=True)
            for number, name in enumerate(NAMES, 1)
        ]
        self.busy: dict[str, tuple[Busy, ...]] = {}
        self.said: list[tuple[str, tuple[str, ...], tuple[str, ...], str]] = []
        self.trouble: exceptions.EffectError | None = None
        self.over: exceptions.EffectError | None = None
        self.before_the_last_look: Callable[[], None] = lambda: None

    def book(self, number: int, start: float, end: float, lease_id: str = 'lease') -> None:
        """Reserve a host."""
        times = (NOW + datetime.timedelta(seconds=at) for at in (start, end))
        taken = Busy(lease_id=lease_id, **dict(zip(('start', 'end'), times, strict=True)))
        self.busy[str(number)] = (*self.busy.get(str(number), ()), taken)

    def list_hosts(self) -> tuple[Host, ...]:
        if self.trouble:
            raise self.trouble
        return tuple(self.hosts)

    def list_allocations(self) -> dict[str, tuple[Busy, ...]]:
        return dict(self.busy)

    def find_allocations(self, host_id: str) -> tuple[Busy, ...]:
        self.before_the_last_look()
        return self.busy.get(host_id, ())

    def set_properties(self, host_id: str, properties: Mapping[str, str]) -> None:
        self.hosts = [
            dataclasses.replace(host, **properties) if host.id == host_id else host
            for host in self.hosts
        ]

    def say_readiness(
        self, lease_id: str, *, ready: Any, waiting: Any, by: str, detail: str = ''
    ) -> None:
        if self.trouble:
            raise self.trouble
        self.said.append((lease_id, tuple(ready), tuple(waiting), detail))
        if self.over:
            raise self.over


class KeeperCase(base.TestCase):
    """Three hosts in the freepool of a simulated cloud, and a clock in hand."""

    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.clock = ManualClock(NOW)
        self.cloud = self.closing(SimulatedCloud(':memory:', clock=self.clock))
        self.cloud.seed(3)
        pool = present(self.cloud.compute.find_aggregate('freepool'))
        self.pool = pool.id
        for name in NAMES:
            self.cloud.compute.add_host(pool.id, name)
        self.climate = Climate()
        self.switches = {name: Switch(self.cloud, name) for name in NAMES}
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.keeper = self.made()

    def made(self, **settings: Any) -> PowerController:
        values = {'idle_after': 600.0, 'boot_time': 100.0, 'margin': 20.0, 'interval': 30.0}
        parts = {'drivers': self.switches, 'reservations': self.climate, 'cloud': self.cloud}
        records = PowerRecords(self.folder / 'power.json')
        settings = PowerSettings(**values | settings)
        made = PowerController(clock=self.clock, records=records, settings=settings, **parts)
        return self.closing(made)

    def pass_time(
        self, seconds: float, keeper: PowerController | None = None, step: float = 30
    ) -> None:
        """Look every *step* seconds."""
        until = self.clock.now() + datetime.timedelta(seconds=seconds)
        while self.clock.now() < until:
            (keeper or self.keeper).round()
            self.clock.advance(step)

    def on(self) -> list[bool]:
        return [switch.on for switch in self.switches.values()]

    def reasons(self) -> list[str]:
        return [one.disabled_reason for one in self.cloud.compute.list_services()]


class TestSleep(KeeperCase):
    """Who may sleep."""

    def test_idle_hosts_sleep_and_are_woken_before_they_are_needed(self) -> None:
        self.pass_time(700)
        self.assertEqual([False] * 3, self.on())
        self.assertEqual([ASLEEP] * 3, self.reasons())
        self.assertEqual(['120'] * 3, [host.lead_time for host in self.climate.hosts])
        self.assertEqual(['false'] * 3, [host.awake for host in self.climate.hosts])
        self.climate.book(2, 1000, 2000)
        self.pass_time(150)
        self.assertEqual([False, False, False], self.on())
        self.pass_time(150)
        self.assertEqual([False, True, False], self.on())
        self.assertEqual([ASLEEP, '', ASLEEP], self.reasons())
        lease, ready, waiting, detail = self.climate.said[0]
        self.assertEqual(('lease', (), ('compute-2',)), (lease, ready, waiting))
        self.assertEqual('compute-2: it is being switched on', detail)
        self.assertEqual(('lease', ('compute-2',), (), ''), self.climate.said[-1])
        self.assertEqual(['false', 'true', 'false'], [one.awake for one in self.climate.hosts])
        self.assertLessEqual(len(self.climate.said), 3)
        # Not while it is leased, but some time afterwards.
        self.pass_time(1000)
        self.assertEqual([False, True, False], self.on())
        self.pass_time(800)
        self.assertEqual([False] * 3, self.on())

    def test_who_is_in_use_stays_on(self) -> None:
        self.cloud.boot_server('compute-1', 'blue', 'vm')
        self.cloud.compute.remove_host(self.pool, 'compute-2')
        self.climate.book(3, -1000, 5000)
        self.pass_time(3000)
        self.assertEqual(([True] * 3, [''] * 3), (self.on(), self.reasons()))

    def test_who_is_needed_soon_is_broken_or_not_alone_stays_on(self) -> None:
        self.climate.book(1, 1300, 5000)
        self.climate.hosts[1] = dataclasses.replace(self.climate.hosts[1], reservable=False)
        self.cloud.compute.disable_service('compute-3', 'a new fan')
        self.pass_time(1200)
        self.assertEqual(([True] * 3, ['', '', 'a new fan']), (self.on(), self.reasons()))
        shared = Host(id='9', name='node-9', service_host='compute-2', reservable=True)
        one = dataclasses.replace(self.climate.hosts[1], reservable=True)
        self.climate.hosts[1:2] = [one, shared]
        self.pass_time(1200)
        self.assertTrue(self.switches['compute-2'].on)

    def test_an_unregistered_node_keeps_its_nova_compute_enabled(self) -> None:
        self.cloud.add_hypervisor('node-9', service_host='compute-2')
        self.pass_time(3000)
        self.assertEqual([False, True, False], self.on())

    def test_no_host_sleeps_unless_asked_to(self) -> None:
        self.pass_time(5000, self.made(idle_after=0.0), 100)
        self.assertEqual([True] * 3, self.on())

    def test_some_are_kept_awake(self) -> None:
        self.pass_time(3000, self.made(keep_awake=2))
        self.assertEqual(2, sum(self.on()))

    def test_who_is_booked_at_the_last_moment_stays_on(self) -> None:
        self.climate.before_the_last_look = lambda: self.climate.book(1, 0, 5000)
        self.pass_time(3000)
        self.assertTrue(self.switches['compute-1'].on)
        self.assertEqual([], self.switches['compute-1'].commands)
        self.assertEqual('', self.reasons()[0])

    def test_who_is_booked_when_it_is_disabled_already_is_enabled_again(self) -> None:
        looks: list[int] = []

        def look() -> None:
            looks.append(1)
            if len(looks) == 2:
                self.climate.book(1, 0, 5000)

        for number in (2, 3):
            self.climate.book(number, -1, 9000)
        self.climate.before_the_last_look = look
        self.pass_time(900)
        self.assertEqual(([], 2), (self.switches['compute-1'].commands, len(looks)))
        self.assertEqual('', self.reasons()[0])

    def test_no_host_sleeps_while_climate_or_nova_is_silent(self) -> None:
        self.pass_time(500)
        self.climate.trouble = exceptions.Transient('Climate did not answer')
        self.pass_time(1000)
        self.assertEqual([True] * 3, self.on())
        self.climate.trouble = None
        self.cloud.reachable = False
        self.pass_time(1000)
        self.assertEqual([True] * 3, self.on())
        self.assertIn('Climate does not answer; no host is put to sleep', self.log.output)
        self.assertIn('Nova does not answer', self.log.output)

    def test_a_process_that_was_killed_goes_on(self) -> None:
        self.pass_time(620)
        self.keeper.close()
        self.pass_time(600, self.made())
        self.assertEqual([False] * 3, self.on())
        self.climate.book(1, 1300, 5000)
        again = self.made()
        again.round()
        again.close()
        self.pass_time(200, self.made())
        self.assertEqual([True, False, False], self.on())
        self.assertEqual(
            ['on'], [word for word in self.switches['compute-1'].commands if word == 'on']
        )


class TestTrouble(KeeperCase):
    """Management controllers and others that do not do what they should."""

    def asleep(self) -> None:
        self.pass_time(700)
        self.assertEqual([False] * 3, self.on())

    def test_a_silent_host_delays_no_other_and_is_reported(self) -> None:
        self.asleep()
        for number in (1, 2):
            self.climate.book(number, 800, 5000)
        self.switches['compute-1'].trouble = 'no route to host'
        self.pass_time(200, step=10)
        self.assertEqual([False, True, False], self.on())
        self.assertEqual(
            ('lease', ('compute-2',), ('compute-1',), 'compute-1: no route to host'),
            self.climate.said[-1],
        )
        self.assertEqual(1, self.log.output.count('WARNING') or 1)
        said = len(self.climate.said)
        self.pass_time(300, step=10)
        self.assertEqual(said, len(self.climate.said))
        self.switches['compute-1'].trouble = ''
        self.pass_time(400, step=10)
        self.assertEqual(('lease', ('compute-1', 'compute-2'), (), ''), self.climate.said[-1])

    def test_a_hanging_host_delays_no_other(self) -> None:
        self.asleep()
        for number in (1, 2):
            self.climate.book(number, 800, 5000)
        hangs = self.switches['compute-1'].hangs = threading.Event()
        self.addCleanup(hangs.set)
        for _ in range(5):
            self.keeper.round(seconds=0.1)
            self.clock.advance(5)
        self.assertEqual([False, True, False], self.on())
        self.assertEqual(('compute-1',), self.climate.said[-1][2])

    def test_one_that_does_not_wake_has_failed(self) -> None:
        self.asleep()
        self.switches['compute-1'].stuck = True
        self.climate.book(1, 800, 9000)
        keeper = self.made(wake_timeout=500.0)
        self.pass_time(1000, keeper)
        self.assertEqual(deciding.FAILED, self.reasons()[0])
        self.assertIn('did not wake up', self.climate.said[-1][3])
        self.switches['compute-1'].stuck = False
        self.pass_time(1000, keeper)
        self.assertEqual('', self.reasons()[0])
        self.assertEqual(('compute-1',), self.climate.said[-1][1])

    def test_a_silent_controller_of_a_host_that_works_is_no_news(self) -> None:
        self.climate.book(1, 100, 5000)
        self.switches['compute-1'].trouble = 'no route to host'
        self.pass_time(300)
        self.assertEqual([('lease', ('compute-1',), (), '')], self.climate.said)
        self.cloud.reachable = False
        self.pass_time(300)
        self.assertEqual(1, len(self.climate.said))

    def test_a_silent_climate_is_reported_later_and_hosts_wake_all_the_same(self) -> None:
        self.climate.book(1, 1500, 5000)
        self.pass_time(700)
        self.assertEqual([False] * 3, [*self.on()])
        self.climate.trouble = exceptions.Transient('Climate did not answer')
        self.pass_time(900)
        self.assertEqual([True, False, False], self.on())
        self.assertEqual([], self.climate.said)
        self.climate.trouble = None
        self.keeper.round()
        self.climate.busy.clear()
        self.keeper.round()

    def test_a_lease_that_is_over_is_reported_no_more(self) -> None:
        self.climate.book(1, 100, 5000)
        self.climate.over = CloudConflict('it is over')
        self.pass_time(90)
        self.assertEqual(1, len(self.climate.said))

    def test_a_property_that_is_refused_is_not_asked_for_for_ever(self) -> None:
        asked: list[Mapping[str, str]] = []

        def refuse(_host_id: str, properties: Mapping[str, str]) -> None:
            asked.append(properties)
            raise exceptions.Permanent('a reservation requires it')

        vars(self.climate)['set_properties'] = refuse
        self.pass_time(300)
        self.assertEqual([{'lead_time': '120'}, {'awake': 'true'}] * 3, asked)

    def test_when_to_look_again(self) -> None:
        keeper = self.made(idle_after=0.0)
        self.assertEqual(30.0, keeper.round())
        self.climate.book(1, 130, 5000)
        # When it is to be switched on, which is 120 s before.
        self.assertAlmostEqual(10.01, keeper.round(), 3)
        self.switches['compute-1'].on = False
        self.clock.advance(10)
        self.assertEqual(5.0, keeper.round())
