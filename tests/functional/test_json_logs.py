# SPDX-License-Identifier: Apache-2.0

"""The log of climate-standalone, as JSON: one line for each decision, with its ids."""

from __future__ import annotations

import datetime
import json
import sqlite3
import urllib.request
from typing import Any

from climate.clock import SystemClock
from climate.simulator import SimulatedCloud
from tests.base import FolderCase
from tests.functional import bodies
from tests.functional.processes import Standalone
from tests.functional.processes import until

GLOBAL = 'req-00000000-1111-4222-8333-444444444444'
TOKEN = 'alice:blue:member'
SECRET = 'hunter2-in-user-data'
OPTIONS = """
[DEFAULT]
use_json = true
log_file = {folder}/climate.json
[manager]
max_sleep = 0.2
retry_first_pause = 0.01
retry_longest_pause = 0.02
"""


class JsonLogCase(FolderCase):
    """A service with a log file."""

    def setUp(self) -> None:
        super().setUp()
        options = OPTIONS.format(folder=self.folder)
        self.service = self.useFixture(Standalone(options=options, state=self.folder / 'state'))

    def ask(self, method: str, path: str, body: Any = None) -> tuple[str, Any]:
        """Send a request of a user; return its request id and the body of the answer."""
        request = urllib.request.Request(
            self.service.endpoint + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                'Content-Type': 'application/json',
                'OpenStack-API-Version': 'reservation 1.3',
                'X-Auth-Token': TOKEN,
                'X-Openstack-Request-Id': GLOBAL,
            },
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
            return answer.headers['X-Openstack-Request-Id'], json.loads(text) if text else None

    def book(self) -> tuple[str, str]:
        """Book a host from now on; return the ids of the request and the lease."""
        host = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
        end = SystemClock().now() + datetime.timedelta(days=1)
        body = bodies.lease(SECRET, 'now', end.strftime('%Y-%m-%d %H:%M'), host)
        request_id, answer = self.ask('POST', '/leases', body)
        return request_id, answer['lease']['id']

    def until_status(self, lease_id: str, status: str) -> None:
        """Wait until a lease has a status."""
        until(
            status, lambda: self.ask('GET', f'/leases/{lease_id}')[1]['lease']['status'] == status
        )

    def lines(self) -> list[dict[str, Any]]:
        """Return all lines of the log; each is a JSON document."""
        text = (self.folder / 'climate.json').read_text(encoding='utf-8')
        self.assertNotIn(TOKEN, text)
        self.assertNotIn(SECRET, text)
        return [json.loads(line) for line in text.splitlines()]

    def about(self, lease_id: str) -> list[dict[str, Any]]:
        """Return the lines with a lease as their field, apart from those about its mails.

        Those come at any time after what they are about.
        """
        return [
            line
            for line in self.lines()
            if line['extra'].get('lease_id') == lease_id
            and line['name'] != 'climate.mail.mail_sender'
        ]


class TestJsonLogs(JsonLogCase):
    """What a log says about one lease."""

    def test_a_whole_life(self) -> None:
        booked, lease_id = self.book()
        self.until_status(lease_id, 'ACTIVE')
        changed, _ = self.ask('PUT', f'/leases/{lease_id}', {'end_date': 'now'})
        self.until_status(lease_id, 'TERMINATED')
        deleted, _ = self.ask('DELETE', f'/leases/{lease_id}')
        found = self.about(lease_id)
        said = [line['message'].partition(': ')[2].partition(',')[0] for line in found]
        begun = ['booked for project blue', 'start_lease', 'changed']
        over = [f'being deleted for lease {lease_id}', 'end_lease', 'its deletion is requested']
        self.assertEqual([*begun, *over], said, [line['message'] for line in found])
        actual = [line['extra']['request_id'] for line in found]
        self.assertEqual([booked, booked, changed, changed, changed, deleted], actual)
        for line in found:
            self.assertEqual('INFO', line['levelname'])
            self.assertEqual(GLOBAL, line['extra']['global_request_id'])
            self.assertEqual(line['extra']['request_id'], line['context']['request_id'])
        for line, event in ((found[1], 'start_lease'), (found[3], 'end_lease')):
            self.assertEqual(event, line['extra']['event'])
            self.assertEqual(36, len(line['extra']['event_id']))
        # Nothing else of interest has happened.
        self.assertEqual([], [line for line in self.lines() if line['levelno'] >= 40])

    def test_a_stuck_lease_is_quiet(self) -> None:
        request_id, lease_id = self.book()
        self.until_status(lease_id, 'ACTIVE')
        cloud = self.closing(SimulatedCloud(self.folder / 'state/cloud', clock=SystemClock()))
        cloud.fail('compute.remove_host', times=None)
        self.ask('PUT', f'/leases/{lease_id}', {'end_date': 'now'})
        until('it has failed often', lambda: self.attempts(lease_id) >= 40)
        warnings = [line for line in self.about(lease_id) if line['levelno'] >= 30]
        # The 1st, 2nd, 4th … time.
        self.assertLessEqual(len(warnings), 1 + self.attempts(lease_id).bit_length())
        self.assertGreaterEqual(len(warnings), 5)
        self.assertEqual({'end_lease'}, {line['extra']['event'] for line in warnings})
        cloud.heal()
        self.until_status(lease_id, 'TERMINATED')
        self.assertNotEqual(request_id, self.about(lease_id)[-1]['extra']['request_id'])

    def attempts(self, lease_id: str) -> int:
        """Return how often the end of a lease has failed."""
        with sqlite3.connect(self.folder / 'state/climate.sqlite', timeout=30) as database:
            (row,) = database.execute(
                "SELECT attempts FROM events WHERE lease_id = ? AND kind = 'end_lease'", (lease_id,)
            )
        return int(row[0])
