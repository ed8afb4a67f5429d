# SPDX-License-Identifier: Apache-2.0

"""Processes that load timelines before their first response, if they can."""

from __future__ import annotations

import logging
from typing import Any

import fixtures
from oslo_config import cfg

from climate.cmd import composition
from climate.cmd import config
from climate.db.migrations import migration
from climate.testing import connection
from tests import base
from tests import services
from tests.functional import http
from tests.functional.db import cases
from tests.functional.processes import until

CHECK = '/healthcheck?checks=timelines'


@services.on_each_engine(base.TestCase, 'TestStartOn')
class Starts:
    """A service with a database of its own."""

    def setUp(self) -> None:
        super().setUp()
        self.url = self.useFixture(services.Database(self.kind)).url
        self.log = self.useFixture(fixtures.FakeLogger('climate', level=logging.INFO))

    def configured(self) -> cfg.ConfigOpts:
        """Return a configuration."""
        conf = config.new_conf()
        conf([], project='climate', default_config_files=[])
        connection.use(conf, self.url)
        conf.set_override('auth_strategy', 'noauth')
        conf.set_override('transport_url', 'fake://')
        return conf

    def composed(self) -> tuple[composition.Core, Any]:
        """Return the parts of a service, and its application."""
        parts = composition.core(self.configured())
        self.addCleanup(parts.store.close)
        absent: Any = None
        return parts, composition.api(parts, registry=absent, wake=lambda _: None, health={})

    def test_before_the_first_response(self) -> None:
        cases.connect(self.url).close()
        store = cases.connect(self.url)
        self.addCleanup(store.close)
        migration.metadata().create_all(store.engine)
        store.run(lambda tx: tx.resources.insert(cases.host(1)))
        parts, app = self.composed()
        self.assertTrue(parts.store.timelines.has(cases.TYPE))
        answer = http.expect(200, http.send(app, 'GET', CHECK))
        counters = answer.json['checks']['timelines']['counters']
        self.assertEqual(counters['loaded'], len(parts.plugins))
        self.assertEqual(0, counters['lost'])
        self.assertIn('Timeline of physical:host: 1 resources and 0 allocations', self.log.output)

    def test_without_a_database(self) -> None:
        parts, app = self.composed()
        self.assertIn('Timelines cannot be loaded yet', self.log.output)
        self.assertEqual(503, http.send(app, 'GET', CHECK).status_int)
        self.assertEqual(300, http.send(app, 'GET', '/').status_int)
        migration.metadata().create_all(parts.store.engine)
        until('timelines are loaded', lambda: http.send(app, 'GET', CHECK).status_int == 200)
        self.assertTrue(parts.store.timelines.has(cases.TYPE))
