# SPDX-License-Identifier: Apache-2.0

"""Processes are killed while a service is asked or notified: it receives the outcome."""

from __future__ import annotations

import contextlib
import http.client
import sqlite3
import threading
from typing import Any

from tests import base
from tests import usage_service
from tests.functional import processes

OPTIONS = """
[enforcement]
enabled_filters = max_lease_duration, external_service
max_lease_duration = 86400
external_service_base_endpoint = {url}
external_service_timeout = 30
"""
LEASE = {
    'name': 'one',
    'start_date': '2031-05-01T12:00:00Z',
    'end_date': '2031-05-01T13:00:00Z',
    'reservations': [{'resource_type': 'physical:host', 'min': 1, 'max': 1}],
}


class TestKilled(base.TestCase):
    """A standalone service and a usage service on a real socket."""

    def setUp(self) -> None:
        super().setUp()
        self.usage_service = self.useFixture(usage_service.UsageService())
        options = OPTIONS.format(url=self.usage_service.url)
        self.climate = self.useFixture(processes.Standalone(options=options))

    def database(self, statement: str) -> list[Any]:
        """Look into the database, or change it."""
        path = self.climate.state / 'climate.sqlite'
        with contextlib.closing(sqlite3.connect(path, timeout=30)) as connection:
            with connection:
                return connection.execute(statement).fetchall()

    def let_time_pass(self) -> None:
        """Let what was begun before the last start be long ago."""
        long_ago = '2001-01-01 00:00:00.000000'
        self.database(f"UPDATE charges SET due = '{long_ago}', claim_until = '{long_ago}'")

    def until_called(self, name: str, times: int = 1) -> list[usage_service.Call]:
        processes.until(name, lambda: len(self.usage_service.named(name)) >= times, 180)
        return self.usage_service.named(name)

    def restart(self) -> None:
        """Start it again after it was killed, long after."""
        self.climate.command.kill()
        self.usage_service.silent.clear()
        self.let_time_pass()
        self.climate.again()

    def test_between_question_and_booking(self) -> None:
        self.usage_service.silent.add('check-create')

        def ask() -> None:
            with contextlib.suppress(OSError, http.client.HTTPException):
                self.climate.ask('POST', '/leases', LEASE, timeout=60)

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        (asked,) = self.until_called('check-create')
        self.climate.command.kill()
        thread.join(120)
        self.assertEqual([('asked',)], self.database('SELECT state FROM charges'))
        self.assertEqual([], self.database('SELECT id FROM leases'))
        self.restart()
        (released,) = self.until_called('release')
        self.assertEqual(asked.body['id'], released.body['id'])
        processes.until('it is done', lambda: not self.database('SELECT 1 FROM charges'))
        self.assertEqual((200, []), (200, self.climate.ask('GET', '/leases')[1]['leases']))
        self.assertEqual([], self.usage_service.named('commit'))

    def test_killed_while_it_notifies(self) -> None:
        self.usage_service.silent.add('commit')
        status, answer = self.climate.ask('POST', '/leases', LEASE)
        self.assertEqual(201, status, answer)
        (first,) = self.until_called('commit')
        self.restart()
        (_, second) = self.until_called('commit', 2)
        self.assertEqual(first.body, second.body)
        self.assertEqual(first.headers['idempotency-key'], second.headers['idempotency-key'])
        self.assertEqual(answer['lease']['id'], second.body['lease']['id'])
        processes.until('it is done', lambda: not self.database('SELECT 1 FROM charges'))
        self.assertEqual([], self.usage_service.named('release'))

    def test_the_service_is_unavailable_for_a_while(self) -> None:
        _, answer = self.climate.ask('POST', '/leases', LEASE)
        self.until_called('commit')
        self.usage_service.go_away()
        self.assertEqual(403, self.climate.ask('POST', '/leases', LEASE)[0])
        self.assertEqual(204, self.climate.ask('DELETE', f'/leases/{answer["lease"]["id"]}')[0])
        processes.until('it is missed', lambda: 'Charges wait' in self.climate.command.said)
        self.usage_service.come_back()
        (ended,) = self.until_called('on-end')
        self.assertEqual(('deleted', 0), (ended.body['reason'], ended.body['used_seconds']))
        self.until_called('release')
        processes.until('all charges are sent', lambda: not self.database('SELECT 1 FROM charges'))

    def test_a_filter_that_does_not_exist(self) -> None:
        self.climate.command.terminate(60)
        configuration = self.climate.state.parent / 'standalone.conf'
        configuration.write_text('[enforcement]\nenabled_filters = no_such\n')
        self.climate.command.start()
        processes.until('it has ended', lambda: not self.climate.command.running)
        last = self.climate.command.said.strip().splitlines()[-1]
        self.assertIn("[enforcement] enabled_filters: 'no_such' is not installed", last)
