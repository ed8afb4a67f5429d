# SPDX-License-Identifier: Apache-2.0

"""Processes are known by id and start, and stopped with their children."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import signal
import socket
import subprocess
import sys

from tests import waiting
from tests.narrowing import present
from tests.unit.tools import clouds
from tools.cloud import processes
from tools.cloud.errors import CloudError

_SLEEPER = [sys.executable, '-c', 'import time; print("here I am", flush=True); time.sleep(600)']
_STUBBORN = [
    sys.executable,
    '-c',
    'import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);'
    'print("no", flush=True); time.sleep(600)',
]
# A parent that ends on request, and leaves its child behind.
_PARENT = [
    sys.executable,
    '-c',
    'import subprocess, sys, time;'
    'print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid,'
    ' flush=True); time.sleep(600)',
]
# One whose first thread goes while another is still at work.
_HEADLESS = [
    sys.executable,
    '-c',
    'import ctypes, threading, time; threading.Thread(target=time.sleep, args=(600,)).start();'
    'ctypes.CDLL(None).pthread_exit(None)',
]


class ProcessesTest(clouds.CloudTestCase):
    """Real ones, that do nothing."""

    def _spawn(self, name: str, argv: list[str]) -> processes.Process:
        processes.spawn(self.cloud, name, argv, dict(os.environ))
        self.addCleanup(processes.stop, self.cloud, name, signal=signal.SIGKILL)
        return present(processes.find(self.cloud, name))

    def _said(self, name: str) -> str:
        log = self.cloud.logs / f'{name}.log'
        waiting.until(lambda: log.exists() and log.read_text(), 60, f'{name} to say something')
        return log.read_text()

    def test_started_and_stopped(self) -> None:
        found = self._spawn('one', _SLEEPER)
        self.assertEqual('here I am\n', self._said('one'))
        self.assertEqual(found.pid, found.session)
        self.assertEqual(['one'], processes.running(self.cloud))
        processes.stop(self.cloud, 'one')
        self.assertFalse(processes.alive(self.cloud, 'one'))
        self.assertIsNone(processes.look(found.pid))
        self.assertEqual([], list(self.cloud.run.iterdir()))

    def test_no_file_of_ours_is_kept_open(self) -> None:
        with (self.cloud.run.parent / 'lock').open('w') as lock:
            os.set_inheritable(lock.fileno(), True)
            found = self._spawn('one', _SLEEPER)
            self._said('one')
            folder = pathlib.Path(f'/proc/{found.pid}/fd')
            self.assertEqual(['0', '1', '2'], sorted(path.name for path in folder.iterdir()))

    def test_a_used_again_id_is_not_believed(self) -> None:
        # Somebody else's process has the id that is noted, since later.
        with subprocess.Popen(_SLEEPER, stdout=subprocess.DEVNULL) as other:
            self.addCleanup(other.kill)
            started = processes.look(other.pid).started
            (self.cloud.run / 'one.pid').write_text(f'{other.pid} {started - 1}\n')
            self.assertFalse(processes.alive(self.cloud, 'one'))
            processes.stop(self.cloud, 'one')
            self.assertIsNone(other.poll())
            other.kill()

    def test_a_file_that_says_nothing_is_not_believed(self) -> None:
        for text in ('', 'one', f'{os.getpid()}'):
            (self.cloud.run / 'one.pid').write_text(text)
            self.assertFalse(processes.alive(self.cloud, 'one'))

    def test_remains_are_no_life(self) -> None:
        found = self._spawn('one', [sys.executable, '-c', ''])
        waiting.until(lambda: processes.look(found.pid) is None, 60, 'the process to end')
        self.assertFalse(processes.alive(self.cloud, 'one'))

    def test_the_last_thread_is_waited_for(self) -> None:
        found = self._spawn('one', _HEADLESS)
        stat = pathlib.Path(f'/proc/{found.pid}/stat')
        waiting.until(lambda: ') Z ' in stat.read_text(), 60, 'the first thread to go')
        self.assertTrue(processes.alive(self.cloud, 'one'))
        processes.stop(self.cloud, 'one', seconds=0.2)
        self.assertFalse(stat.exists())

    def test_one_that_does_not_listen_is_killed(self) -> None:
        found = self._spawn('one', _STUBBORN)
        self._said('one')
        processes.stop(self.cloud, 'one', seconds=0.2)
        self.assertIsNone(processes.look(found.pid))

    def test_children_go_too(self) -> None:
        for name, how in (('one', signal.SIGTERM), ('two', signal.SIGKILL)):
            self._spawn(name, _PARENT)
            child = int(self._said(name))
            self.assertIsNotNone(processes.look(child))
            processes.stop(self.cloud, name, signal=how)
            waiting.until(lambda child=child: processes.look(child) is None, 60, 'the child to go')

    def test_one_that_ended_by_itself_is_reported_with_its_log(self) -> None:
        self._spawn('heat-engine', [sys.executable, '-c', 'raise SystemExit("no such database")'])
        self._said('heat-engine')
        waiting.until(lambda: not processes.alive(self.cloud, 'heat-engine'), 60, 'its end')
        error = self.assertRaises(
            CloudError, processes.await_ready, self.cloud, 'heat-engine', seconds=5
        )
        self.assertIn('heat-engine exited unexpectedly', str(error))
        self.assertIn('no such database', str(error))

    def test_one_that_never_answers_is_reported_with_its_log(self) -> None:
        self._spawn('memcached', _SLEEPER)
        self._said('memcached')
        with socket.socket() as taken:
            # Nobody else can answer at a port that is taken and not listened at.
            taken.bind(('127.0.0.1', 0))
            mute = {**self.cloud.ports, 'memcached': taken.getsockname()[1]}
            cloud = dataclasses.replace(self.cloud, ports=mute)
            error = self.assertRaises(
                CloudError, processes.await_ready, cloud, 'memcached', seconds=0.2
            )
        self.assertIn('not ready', str(error))
        self.assertIn('here I am', str(error))

    def test_unknown_names(self) -> None:
        self.assert_error(CloudError, 'nova-api', processes.start, self.cloud, 'nova')
