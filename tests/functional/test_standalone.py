# SPDX-License-Identifier: Apache-2.0

"""``climate-standalone`` as people run it: stopped, killed, started again."""

from __future__ import annotations

import contextlib
import datetime
import os
import pathlib
import shlex
import signal
import sqlite3
import subprocess
import sys
import urllib.request
from typing import Any
from unittest import mock

import fixtures

from climate.clock import SystemClock
from climate.cmd import standalone
from climate.simulator import SimulatedCloud
from tests import base
from tests import waiting
from tests.functional import bodies
from tests.functional import processes
from tests.functional.processes import Standalone
from tests.functional.processes import until
from tests.narrowing import present

QUICK = """
[manager]
claim_seconds = 1
notify_before_start = 1
minutes_before_end_lease = 0
"""


def soon(seconds: float) -> str:
    """Return the instant so many seconds from now, as the API reads it at 1.1."""
    return (datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)).isoformat()


class _Test(base.TestCase):
    """A service, and what users ask of it."""

    service: Standalone

    def setUp(self) -> None:
        super().setUp()
        self.cloud = self.closing(SimulatedCloud(self.service.state / 'cloud', clock=SystemClock()))

    def create(self, start: float, end: float) -> dict[str, Any]:
        status, answer = self.service.ask(
            'POST', '/leases', bodies.lease('l', soon(start), soon(end), bodies.hosts())
        )
        self.assertEqual(201, status, answer)
        return answer['lease']

    def ends_soon(self, lease: dict[str, Any]) -> bool:
        """Have a lease end in two seconds; False if the request takes longer than that."""
        path, body = f'/leases/{lease["id"]}', {'end_date': soon(2)}
        return bool(self.service.ask('PUT', path, body)[0] == 200)

    def status(self, lease: dict[str, Any]) -> str:
        return str(self.service.ask('GET', f'/leases/{lease["id"]}')[1]['lease']['status'])

    def notifications(self, lease: dict[str, Any]) -> list[str]:
        return [
            item['event_type']
            for item in self.service.notifications()
            if item['payload']['lease_id'] == lease['id']
        ]

    def said(self) -> str:
        return self.service.command.said

    def mail(self, lease: dict[str, Any], about: str) -> str:
        """Return the only mail about a lease with a word in its subject; '' without one."""
        mails = [file.read_text() for file in (self.service.state / 'mail').glob('*.eml')]
        found = [one for one in mails if lease['id'] in one and about in one.partition('\n\n')[0]]
        self.assertLessEqual(len(found), 1)
        return found[0] if found else ''


class TestRunning(_Test):
    """One service for all tests, for each start takes seconds of a processor."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.service = Standalone(options=QUICK)
        cls.service.setUp()
        cls.addClassCleanup(cls.service.cleanUp)

    def test_a_lease_starts_and_ends_in_time(self) -> None:
        self.assertIn(f'Climate is ready at {self.service.endpoint}', self.service.command.said)
        page = self.service.endpoint.removesuffix('v1') + 'ui/'
        self.assertIn(f'Its web page is {page}', self.service.command.said)
        with urllib.request.urlopen(page, timeout=60) as answer:
            self.assertIn(b'Climate', answer.read())
        with urllib.request.urlopen(f'{self.service.endpoint.removesuffix("v1")}metrics') as answer:
            self.assertIn(b'climate_leases{status="PENDING"}', answer.read())
        lease = self.create(2, 3600)
        until('it is active', lambda: self.status(lease) == 'ACTIVE')
        self.assertIn(f'Its mails are files in {self.service.state}/mail\n', self.said())
        until('it was mailed', lambda: self.mail(lease, 'has started'))
        text, reservation = self.mail(lease, 'has started'), lease['reservations'][0]['id']
        self.assertIn(f'/ui/#/lease/{lease["id"]}\n', text)
        self.assertRegex(text, rf'\n  1 host: compute-\d \(reservation {reservation}\)\n')
        self.assertIn(f'    openstack server create --hint reservation={reservation} ', text)
        until('its end is near', lambda: self.ends_soon(lease))
        until('it has ended', lambda: self.status(lease) == 'TERMINATED')
        until('the end is notified', lambda: 'lease.event.end_lease' in self.notifications(lease))
        begun = ['lease.create', 'lease.event.before_start_lease', 'lease.event.start_lease']
        self.assertEqual(
            [*begun, 'lease.update', 'lease.event.end_lease'], self.notifications(lease)
        )
        self.assertIn('lease.event.start_lease', self.service.command.said)

    def test_it_reloads(self) -> None:
        present(self.service.command.process).send_signal(signal.SIGHUP)
        until('it reloads', lambda: 'configuration is reloaded' in self.service.command.said)
        self.assertEqual(200, self.service.ask('GET', '/leases')[0])

    def test_a_second_one_on_the_same_state_is_refused_in_one_line(self) -> None:
        command = str(processes.BIN / 'climate-standalone')
        second = processes.run(command, '--port', '0', '--state-dir', str(self.service.state))
        self.assertEqual((1, ''), (second.returncode, second.stdout))
        (line,) = second.stderr.splitlines()
        self.assert_contains(line, 'another climate-standalone is using', str(self.service.state))

    def test_a_port_in_use_is_refused_in_one_line(self) -> None:
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        port = self.service.endpoint.rsplit(':', 1)[1].removesuffix('/v1')
        second = subprocess.run(
            [str(processes.BIN / 'climate-standalone'), '--port', port, '--state-dir', str(folder)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=processes.clean_environment(),
        )
        self.assertEqual(1, second.returncode)
        (line,) = second.stderr.splitlines()
        self.assertIn(f'cannot listen on 127.0.0.1:{port}: Address already in use', line)

    def test_the_simulated_cloud_can_be_disturbed_from_another_terminal(self) -> None:
        def cloud(*words: str) -> None:
            state = str(self.service.state / 'cloud')
            command = [sys.executable, '-m', 'climate.simulator', '--state-dir', state]
            subprocess.run([*command, *words], check=True, capture_output=True, timeout=120)

        cloud('reachable', 'no')
        lease = self.create(0.2, 600)
        until('it is tried', lambda: self.status(lease) == 'STARTING')
        cloud('heal')
        until('it is active', lambda: self.status(lease) == 'ACTIVE')


class TestStopped(_Test):
    """A service that is stopped or killed, and started again."""

    def setUp(self) -> None:
        # Characters that have a meaning in URLs, and in values of options.
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path, 'p%20t%2F?a=b#$HOME é')
        self.service = Standalone(options=QUICK, state=folder / 'state')
        self.service.setUp()
        self.addCleanup(self.service.cleanUp)
        super().setUp()

    def test_asked_to_stop_it_stops_also_while_an_effect_is_slow(self) -> None:
        lease = self.create(0.5, 600)
        self.cloud.slow('compute.add_host', 60)
        until('it is being started', lambda: self.status(lease) == 'STARTING')
        with waiting.coming_back():
            self.assertEqual(0, self.service.command.terminate(30))
        self.cloud.heal()
        self.service.again()
        until('it is active', lambda: self.status(lease) == 'ACTIVE')
        with waiting.coming_back():
            self.assertEqual(0, self.service.command.terminate(30))

    def test_killed_it_goes_on_where_it_was_and_says_what_is_late(self) -> None:
        running, missed = self.create(0.5, 600), self.create(3600, 7200)
        until('it is active', lambda: self.status(running) == 'ACTIVE')
        late = self.create(3600, 7200)
        self.assertEqual([], self.open_to_others())
        self.service.command.kill()
        # As a release before this one left them.
        for path in (self.service.state, self.service.state / 'climate.sqlite'):
            path.chmod(0o755)
        self.make_past(missed)
        self.service.again()
        until('its end is notified', lambda: 'lease.event.end_lease' in self.notifications(missed))
        self.assertEqual(('ACTIVE', 'PENDING'), (self.status(running), self.status(late)))
        self.assertEqual([], self.open_to_others())
        self.assertEqual('TERMINATED', self.status(missed))
        (end,) = (
            item['payload']
            for item in self.service.notifications()
            if item['event_type'] == 'lease.event.end_lease'
        )
        self.assertGreater(end['late_by_seconds'], 0.4)
        self.assertIn('late', self.service.command.said)
        # A notification that was sent just before the kill is sent again, with the same id.
        ids = {
            item['message_id']
            for item in self.service.notifications()
            if item['event_type'] == 'lease.event.start_lease'
            and item['payload']['lease_id'] == running['id']
        }
        self.assertEqual(1, len(ids))

    def open_to_others(self) -> list[str]:
        """Return what somebody else may read, of directories and files."""
        state = self.service.state
        paths = [state, *state.rglob('*')]
        self.assertGreater(len(paths), 6)
        return [str(path) for path in paths if path.stat().st_mode & 0o077]

    def make_past(self, lease: dict[str, Any]) -> None:
        """Have a lease begin and end in the last seconds, of which no manager knows."""
        now = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
        start, end = (str(now - datetime.timedelta(seconds=seconds)) for seconds in (3, 1))
        with contextlib.closing(sqlite3.connect(self.service.state / 'climate.sqlite')) as direct:
            direct.execute(
                'UPDATE leases SET start_date = ?, end_date = ?, next_due = ? WHERE id = ?',
                (start, end, start, lease['id']),
            )
            direct.execute(
                'DELETE FROM events WHERE lease_id = ? AND kind NOT IN (?, ?)',
                (lease['id'], 'start_lease', 'end_lease'),
            )
            for kind, time in (('start_lease', start), ('end_lease', end)):
                direct.execute(
                    'UPDATE events SET time = ?, due = ? WHERE lease_id = ? AND kind = ?',
                    (time, time, lease['id'], kind),
                )
            direct.commit()


class TestPrinted(base.TestCase):
    """What the command prints at its start."""

    def test_ipv6(self) -> None:
        self.addCleanup(os.umask, os.umask(0o077))
        argv = ['climate-standalone', '--host', '::1', '--port', '21020']
        with (
            mock.patch.object(
                standalone, 'Standalone', return_value=mock.Mock(url='http://[::1]:21020')
            ),
            mock.patch.object(standalone.signals, 'Signals'),
            mock.patch.object(standalone.composition, 'say') as say,
            mock.patch.object(sys, 'argv', argv),
        ):
            standalone.main()
        said = '\n'.join(call.args[0] for call in say.call_args_list)
        self.assertIn('Climate is ready at http://[::1]:21020/v1', said)
        self.assertIn('Its web page is http://[::1]:21020/ui/', said)
        # A shell would take the brackets for a pattern.
        self.assertIn(f'OS_ENDPOINT={shlex.quote("http://[::1]:21020/v1")} ', said)
        self.assertNotIn('::1:21020', said)


class TestManager(base.TestCase):
    """``climate-manager`` rehearsing."""

    def test_a_simulated_cloud_that_cannot_be_kept_is_refused_in_one_line(self) -> None:
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (folder / 'file').write_text('')
        (folder / 'climate.conf').write_text(
            f'[DEFAULT]\ncloud = simulated\ntransport_url = fake://\n'
            f'[simulator]\nstate_dir = {folder}/file/cloud\n'
            f'[database]\nconnection = sqlite:///{folder}/climate.sqlite\n'
        )
        command = str(processes.BIN / 'climate-manager')
        done = processes.run(command, '--config-file', str(folder / 'climate.conf'))
        self.assertEqual(1, done.returncode)
        self.assertIn('climate-manager: [simulator] state_dir', done.stderr.splitlines()[-1])
        self.assertNotIn('Traceback', done.stderr)
