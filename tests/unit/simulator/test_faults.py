# SPDX-License-Identifier: Apache-2.0

"""Settings that only the simulated cloud has: faults, clocks, records of calls."""

from __future__ import annotations

import contextlib
import datetime
import io
import json
import os
import pathlib
import tempfile
import threading
import time
from typing import Any

import fixtures

from climate import exceptions
from climate import simulator
from climate.clock import ManualClock
from climate.cloud import base
from climate.simulator import cli
from climate.simulator.store import SimulatorStore
from tests.base import TestCase
from tests.narrowing import present
from tests.unit.simulator.memory import MemoryCase
from tests.unit.simulator.memory import NOW


class PooledCase(MemoryCase):
    """Two hypervisors, and the pool of hosts."""

    def setUp(self) -> None:
        super().setUp()
        self.pool = present(self.cloud.compute.find_aggregate('freepool'))

    def add(self, host: str = 'compute-1') -> None:
        """Put a host into the freepool."""
        self.cloud.compute.add_host(self.pool.id, host)

    def hosts(self) -> tuple[str, ...]:
        """Return the hosts in the freepool, without a verb that could fail."""
        return next(found.hosts for found in self.cloud.aggregates() if found.id == self.pool.id)


class TestContents(PooledCase):
    """What a test may put into the cloud."""

    def test_a_seed_may_be_repeated_and_enlarged(self) -> None:
        before = self.cloud.hypervisors()
        self.add()
        self.assertEqual(before, self.cloud.seed(2))
        self.assertEqual(4, len(self.cloud.seed(4)))
        self.assertEqual(4, len(self.cloud.seed(1)))
        self.assertEqual(('compute-1',), self.hosts())

    def test_a_seed_has_the_promised_size(self) -> None:
        found = present(self.cloud.compute.find_hypervisor('compute-2'))
        self.assertEqual((16, 65536, 500), (found.vcpus, found.memory_mb, found.local_gb))
        totals = {
            item.resource_class: item.total for item in self.cloud.placement.inventories(found.id)
        }
        self.assertEqual({'VCPU': 16, 'MEMORY_MB': 65536, 'DISK_GB': 500}, totals)
        self.assertIn('HW_CPU_X86_AVX2', self.cloud.placement.traits(found.id))

    def test_a_hypervisor_may_have_another_service_host(self) -> None:
        made = self.cloud.add_hypervisor('node-1.example.org', service_host='node-1', vcpus=2)
        self.assertEqual(made, self.cloud.compute.find_hypervisor('node-1.example.org'))
        self.add('node-1')
        server = self.cloud.boot_server('node-1', 'p', 'vm')
        self.assert_has(server, host='node-1', hypervisor_hostname='node-1.example.org')
        self.assertRaises(LookupError, self.cloud.boot_server, 'node-1.example.org', 'p', 'vm')

    def test_a_hypervisor_may_be_changed_fail_and_go(self) -> None:
        self.cloud.add_hypervisor('compute-1', vcpus=99)
        self.cloud.set_hypervisor('compute-1', state='down')
        self.cloud.set_hypervisor('compute-1', status='disabled')
        found = present(self.cloud.compute.find_hypervisor('compute-1'))
        self.assertEqual((99, 'down', 'disabled'), (found.vcpus, found.state, found.status))
        self.add()
        self.cloud.boot_server('compute-1', 'p', 'vm')
        self.cloud.remove_hypervisor('compute-1')
        self.assertIsNone(self.cloud.compute.find_hypervisor('compute-1'))
        self.assertIsNone(self.cloud.placement.find_provider('compute-1'))
        self.assertEqual(((), ()), (self.hosts(), self.cloud.servers()))
        self.assertRaises(LookupError, self.cloud.set_hypervisor, 'compute-1', state='up')

    def test_servers_go_when_the_clock_says_so(self) -> None:
        self.cloud.set_server_deletion_seconds(10)
        server = self.cloud.boot_server('compute-1', 'p', 'vm')
        self.cloud.compute.delete_server(server.id)
        self.clock.advance(9)
        self.cloud.compute.delete_server(server.id)
        self.assertEqual(1, len(self.cloud.compute.list_servers('compute-1')))
        self.clock.advance(1)
        self.assertEqual((), self.cloud.compute.list_servers('compute-1'))

    def test_images_are_kept(self) -> None:
        server = self.cloud.boot_server('compute-1', 'p', 'vm')
        image_id = self.cloud.compute.create_image(server.id, 'reserved_vm')
        (image,) = self.cloud.images()
        self.assertEqual((image_id, 'reserved_vm', 'active'), (image.id, image.name, image.status))
        # Whoever asks for an image has it, whosever server it is made of.
        self.assertEqual(('service', {'instance_uuid': server.id}), (image.owner, image.properties))


class TestFaults(PooledCase):
    """Calls fail as a test sets it."""

    def test_before_the_work(self) -> None:
        self.cloud.fail('compute.add_host', 2)
        for _ in range(2):
            self.assertRaises(exceptions.Transient, self.add)
            self.assertEqual((), self.hosts())
        self.add()
        self.assertEqual(('compute-1',), self.hosts())
        self.assertEqual((), self.cloud.faults())

    def test_after_the_work(self) -> None:
        self.cloud.fail('compute.add_host', when='after')
        self.assertRaises(exceptions.Transient, self.add)
        self.assertEqual(('compute-1',), self.hosts())
        self.add()

    def test_after_work_that_was_refused_the_refusal_is_lost_too(self) -> None:
        self.cloud.fail('compute.add_host', when='after')
        self.assertRaises(exceptions.Transient, self.add, 'nobody')
        self.assertRaises(base.CloudNotFound, self.add, 'nobody')

    def test_every_kind_of_error(self) -> None:
        kinds: Any = {
            'transient': exceptions.Transient,
            'permanent': exceptions.Permanent,
            'not_found': base.CloudNotFound,
            'conflict': base.CloudConflict,
            'quota': base.CloudQuota,
        }
        for name, kind in kinds.items():
            self.cloud.fail('compute.add_host', error=name)
            self.assertIs(kind, type(self.assertRaises(kind, self.add)))

    def test_patterns_and_for_ever(self) -> None:
        self.cloud.fail('compute.*', None)
        for _ in range(3):
            self.assertRaises(exceptions.Transient, self.add)
            self.assertRaises(exceptions.Transient, self.cloud.compute.list_aggregates)
        self.assertIsNotNone(self.cloud.placement.find_provider('compute-1'))
        self.cloud.heal()
        self.add()

    def test_faults_queue_up(self) -> None:
        self.cloud.fail('*', 1, error='conflict')
        self.cloud.fail('compute.add_host', 1, error='permanent')
        for kind in (base.CloudConflict, exceptions.Permanent):
            self.assertIs(kind, type(self.assertRaises(exceptions.EffectError, self.add)))
        self.add()

    def test_out_of_reach(self) -> None:
        self.cloud.reachable = False
        self.assertFalse(self.cloud.reachable)
        self.assertRaises(exceptions.Transient, self.add)
        self.assertRaises(exceptions.Transient, self.cloud.placement.find_provider, 'x')
        self.cloud.heal()
        self.assertTrue(self.cloud.reachable)
        self.add()

    def test_a_slow_call_delays_no_other(self) -> None:
        slept: list[float] = []
        asleep, over = threading.Event(), threading.Event()

        def sleep(seconds: float) -> None:
            slept.append(seconds)
            asleep.set()
            self.assertTrue(over.wait(60))

        self.useFixture(fixtures.MonkeyPatch('climate.simulator.runner.time.sleep', sleep))
        self.cloud.slow('compute.add_host', 0.3)
        thread = threading.Thread(target=self.add)
        thread.start()
        self.assertTrue(asleep.wait(60))
        for _ in range(20):
            self.cloud.compute.list_aggregates()
        self.assertEqual((), self.hosts())
        over.set()
        thread.join()
        self.assertEqual([0.3], slept)
        self.assertEqual(('compute-1',), self.hosts())

    def test_typing_errors_are_reported(self) -> None:
        self.assertRaises(ValueError, self.cloud.fail, 'compute.addhost')
        self.assertRaises(ValueError, self.cloud.slow, 'nova.*', 1)
        self.assertRaises(ValueError, self.cloud.fail, '*', 0)
        self.assertRaises(ValueError, self.cloud.fail, '*', error='bad luck')
        self.assertRaises(ValueError, self.cloud.fail, '*', when='never')
        self.assertEqual((), self.cloud.faults())


class TestMemory(PooledCase):
    """Calls are counted always and remembered if wanted."""

    def test_every_call_counts_whatever_becomes_of_it(self) -> None:
        before = self.cloud.calls()
        self.add()
        self.cloud.fail('compute.add_host')
        self.assertRaises(exceptions.Transient, self.add)
        self.assertRaises(base.CloudNotFound, self.add, 'nobody')
        self.assertEqual(3, self.cloud.calls('compute.add_host'))
        self.assertEqual(3, self.cloud.calls() - before)
        self.assertEqual(0, self.cloud.calls('compute.remove_host'))

    def test_the_journal_is_kept_when_wanted(self) -> None:
        self.add()
        self.assertEqual((), self.cloud.journal())
        self.cloud.keep_journal()
        self.clock.advance(5)
        self.add('compute-2')
        self.cloud.compute.set_aggregate_metadata(self.pool.id, {'a': None})
        self.cloud.keep_journal(False)
        self.add()
        first, second = self.cloud.journal()
        self.assertEqual(NOW + datetime.timedelta(seconds=5), first.at)
        self.assert_has(first, verb='compute.add_host', arguments=(self.pool.id, 'compute-2'))
        self.assertEqual((self.pool.id, {'a': None}), second.arguments)


class TestFile(TestCase):
    """The state on a file is shared, lasting, and can be played with."""

    def setUp(self) -> None:
        super().setUp()
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name) / 'made' / 'when' / 'missing'

    def open(self) -> simulator.SimulatedCloud:
        """Open the state once more."""
        return self.closing(simulator.SimulatedCloud(self.directory, clock=ManualClock(NOW)))

    def run_cli(self, *arguments: str) -> tuple[int, str]:
        """Run the command line and return its exit code and what it said."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = cli.main(['--state-dir', str(self.directory), *arguments])
        return code, said.getvalue()

    def test_it_lasts_and_is_shared(self) -> None:
        first, second = self.open(), self.open()
        first.seed(3)
        second.fail('compute.list_hypervisors')
        self.assertRaises(exceptions.Transient, first.compute.list_hypervisors)
        first.close()
        self.assertEqual(3, len(second.compute.list_hypervisors()))
        self.assertEqual(3, len(self.open().compute.list_hypervisors()))

    def test_a_state_of_an_earlier_version_gets_the_columns_that_it_lacks(self) -> None:
        old = SimulatorStore(self.directory, 'CREATE TABLE IF NOT EXISTS t (a TEXT);')
        with old.transaction(0.0) as db:
            db.run("INSERT INTO t (a) VALUES ('kept')")
        old.close()
        columns = "a TEXT, b TEXT, c INTEGER NOT NULL DEFAULT 7, d TEXT NOT NULL DEFAULT ''"
        new = SimulatorStore(self.directory, f'CREATE TABLE IF NOT EXISTS t ({columns});')
        self.addCleanup(new.close)
        with new.transaction(0.0) as db:
            (row,) = db.rows('SELECT * FROM t')
        self.assertEqual({'a': 'kept', 'b': None, 'c': 7, 'd': ''}, dict(row))

    def test_a_fork_in_the_middle_of_a_verb_of_another_thread(self) -> None:
        state = self.closing(SimulatorStore(self.directory))
        change = 'UPDATE settings SET reachable = reachable * 2 + ?'
        begun = threading.Event()

        def work() -> None:
            with state.transaction(0.0) as db:
                begun.set()
                db.run(change, 5)
                # The fork below comes while this verb is under way.
                time.sleep(0.05)

        thread = threading.Thread(target=work)
        thread.start()
        begun.wait()
        child = os.fork()
        if not child:
            with contextlib.suppress(BaseException), state.transaction(0.0) as own:
                own.run(change, 1)
            os._exit(0)
        os.waitpid(child, 0)
        thread.join()
        with state.transaction(0.0) as db:
            row = db.row('SELECT reachable FROM settings')
        assert row is not None
        self.assertEqual((1 * 2 + 5) * 2 + 1, row[0])

    def test_parent_and_child_lock_each_other_out(self) -> None:
        state = self.closing(SimulatorStore(self.directory))
        change = 'UPDATE settings SET reachable = reachable + 1'
        child = os.fork()
        for _ in range(100):
            with contextlib.suppress(BaseException), state.transaction(0.0) as db:
                db.run(change)
        if not child:
            os._exit(0)
        os.waitpid(child, 0)
        with state.transaction(0.0) as db:
            row = db.row('SELECT reachable FROM settings')
        assert row is not None
        self.assertEqual(1 + 200, row[0])

    def test_the_command_line(self) -> None:
        self.assertEqual((0, '2 hypervisors\n'), self.run_cli('seed', '--hosts', '2'))
        code, server_id = self.run_cli('boot', 'compute-1', '--project', 'p')
        self.assertEqual(0, code)
        for arguments in (
            ('fail', 'compute.add_host', '--times', '2', '--when', 'after', '--error', 'conflict'),
            ('slow', 'placement.*', '0.5'),
            ('late', '5'),
            ('host', 'compute-2', '--state', 'down', '--vcpus', '8', '--disk-gb', '9'),
            ('host', 'compute-2', '--zone', 'az1'),
            ('host', 'compute-2', '--zone', 'az2', '--node', 'node-3'),
            ('host', 'node-3', '--no-zone', '--remove'),
            ('host', 'compute-2', '--rename', 'compute-2.example.org'),
            ('reachable', 'no'),
            ('deletion', '5'),
        ):
            self.assertEqual((0, ''), self.run_cli(*arguments))
        shown = json.loads(self.run_cli('show', '--json')[1])
        self.assertFalse(shown['reachable'])
        self.assertEqual(server_id.strip(), shown['servers'][0]['id'])
        found = [(item['hostname'], item['state']) for item in shown['hypervisors']]
        self.assertEqual([('compute-1', 'up'), ('compute-2.example.org', 'down')], found)
        self.assertEqual([16, 8], [item['vcpus'] for item in shown['hypervisors']])
        zones = {item['name']: item['hosts'] for item in shown['aggregates']}
        self.assertEqual(({'freepool', 'az1', 'az2'}, []), (set(zones), zones['az1']))
        self.assertEqual(['after', 'slow'], [item['moment'] for item in shown['faults']])
        self.assertIn('the cloud cannot be reached', self.run_cli('show')[1])
        self.assertEqual((0, ''), self.run_cli('heal'))
        self.assertIn('faults: 0', self.run_cli('show')[1])

    def test_mistakes_on_the_command_line(self) -> None:
        code, said = self.run_cli('show')
        self.assertEqual(2, code)
        self.assertIn('there is no simulated cloud', said)
        self.assertFalse(self.directory.exists())
        self.run_cli('seed')
        for arguments in (
            ('fail', 'nonsense'),
            ('boot', 'nobody'),
            ('host', 'nobody'),
            ('host', 'nobody', '--rename', 'compute-9'),
            ('host', 'compute-1', '--node', 'compute-2'),
            ('host', 'compute-1', '--zone', 'a:b'),
            ('host', 'compute-2', '--rename', 'compute-1'),
            ('host', 'compute-2', '--rename', 'compute-2'),
        ):
            code, said = self.run_cli(*arguments)
            self.assertEqual((2, 1), (code, len(said.splitlines())), said)
