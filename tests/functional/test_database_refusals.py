# SPDX-License-Identifier: Apache-2.0

"""A database that refuses the service: what users and operators see."""

from __future__ import annotations

import contextlib
import io
import logging
import pathlib
from typing import Any
from unittest import mock

import fixtures
import sqlalchemy as sa

from climate import exceptions
from climate.clock import SystemClock
from climate.cmd import composition
from climate.cmd import config
from climate.cmd import managing
from climate.cmd import status
from climate.db.engine import error_log
from climate.db.migrations import migration
from climate.db.transactions.store import Store
from climate.resources.registrar import Registrar
from climate.simulator import SimulatedCloud
from tests import services
from tests import waiting
from tests.functional import http
from tests.functional import test_outages
from tests.functional.manager.harness import Bus

_PASSWORD = 'hunter2'


@services.on_each_engine(test_outages.OutageCase, 'TestOn', engines=services.DATABASE_SERVERS)
class _Refused:
    """The user of the database is unknown."""

    def setUp(self) -> None:
        super().setUp()  # type: ignore[misc]  # heirs are test cases
        url = sa.make_url(self.useFixture(services.Database(self.kind)).url)
        wrong = url.set(username='climate_nobody', password=_PASSWORD)
        self.url = wrong.render_as_string(hide_password=False)
        # That of the process may have logged the cause within the last minute.
        self.useFixture(fixtures.MockPatchObject(error_log, '_SHARED', error_log.ErrorLog()))
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))

    def test_processes_log_the_reason_and_no_traceback(self) -> None:
        parts = composition.core(self.configured(self.url))
        self.addCleanup(parts.store.close)
        cloud = self.closing(SimulatedCloud(':memory:', clock=parts.clock))
        with mock.patch('climate.manager.claims.loop.AWAY_PAUSE', 0.01):
            manager = managing.manager(parts, cloud, Bus())
            failed = mock.Mock(wraps=parts.store.engine.pool._do_get)
            with mock.patch.object(parts.store.engine.pool, '_do_get', failed):
                manager.start()
                self.wait_for(failed, 10)
            manager.stop(5.0)
        app = composition.api(
            parts,
            registry=Registrar(parts.store, parts.plugins, cloud),
            wake=lambda: None,
            health={'database': parts.store.ping},
        )
        answer = http.send(app, 'GET', '/v1/leases')
        self.assertEqual((500, 'DATABASE_REFUSED'), (answer.status_code, answer.json['error_name']))
        self.assertNotIn('Retry-After', answer.headers)
        health = http.send(app, 'GET', '/healthcheck?checks=database')
        self.assertEqual(503, health.status_code)
        self.check_log(answer.text + health.text)

    def wait_for(self, called: mock.Mock, times: int) -> None:
        waiting.until(lambda: called.call_count >= times, 60, 'the manager has tried')

    def check_log(self, shown: str) -> None:
        """Check that the log has the reason once, and that users do not see it."""
        text = self.log.output
        self.assertNotIn('Traceback', text)
        self.assertNotIn(_PASSWORD, text + shown)
        self.assertNotIn('climate_nobody', shown)
        reasons = [line for line in text.splitlines() if line.startswith('The database refuses')]
        self.assertEqual(1, len(reasons), text)
        self.assertIn('climate_nobody', reasons[0])

    def test_the_command_for_upgrades_says_the_reason(self) -> None:
        file = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'climate.conf'
        file.write_text(f'[database]\nconnection = {self.url}\n')
        conf = config.new_conf()
        conf(['--config-file', str(file)], project='climate')
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            checks: Any = status.Checks(conf)
            self.assertEqual(2, checks.check())
        shown = output.getvalue()
        self.assertIn('climate_nobody', shown)
        self.assertNotIn(_PASSWORD, shown)
        self.assertNotIn('Traceback', shown)
        self.assertNotIn('DatabaseRefused', shown)
        self.assertEqual('', self.log.output)


class TestOnSqlite(test_outages.OutageCase):
    """A file that is full or read-only."""

    def test_changes_get_503(self) -> None:
        conf = self.configured(self.useFixture(services.Database(services.SQLITE)).url)
        store = self.closing(Store(conf, SystemClock()))
        migration.metadata().create_all(store.engine)
        for pragma, text in (
            ('PRAGMA query_only = 1', 'is read-only'),
            ('PRAGMA max_page_count = 1', 'has no room'),
        ):
            changed = self.closing(Store(conf, SystemClock()))
            sa.event.listen(
                changed.engine,
                'connect',
                lambda connection, _record, pragma=pragma: connection.execute(pragma),
            )
            with error_log.printed():
                found = self.assertRaises(exceptions.DatabaseUnavailable, changed.run, _grow)
            self.assertEqual(503, found.code)
            self.assertIn(text, found.explanation)
            self.assertIn('retry_after', found.facts)


def _grow(tx: Any) -> None:
    for number in range(1000):
        tx.projects.add(f'{number:0>30}')
